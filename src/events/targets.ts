import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hmac, hmacKey } from '../crypto/digest.ts';

/** The target of an event destination as it is stored; exactly one member. */
export interface TargetSettings {
  readonly file?: { readonly path: string; readonly max_bytes: number; readonly max_files: number };
  readonly debug?: {
    readonly log: boolean;
    readonly callback_url?: string;
    readonly signing_secret?: string;
  };
  readonly [cloud: string]: unknown;
}

/** Where a batch of events goes. */
export interface Target {
  /** Why nothing can be sent at all, or null. */
  readonly problem: string | null;
  /** Sends events, each a JSON text; null when they have arrived, otherwise why not. */
  readonly send: (events: readonly string[]) => Promise<string | null>;
  /** Gives up what is on its way: it has not arrived then. */
  readonly giveUp: () => void;
  readonly close: () => Promise<void>;
}

interface TargetWorld {
  readonly nowMs: () => number;
  readonly say: (text: string) => void;
}

/** Makes the sender for a target. */
export function targetOf({ file, debug, ...cloud }: TargetSettings, world: TargetWorld): Target {
  if (file !== undefined) return fileTarget(file);
  if (debug !== undefined) return debugTarget(debug, world);
  const [name = 'nothing'] = Object.keys(cloud);
  return {
    problem: `this version has no sender for ${name}: events are not delivered`,
    send: async () => null,
    giveUp: () => {},
    close: async () => {},
  };
}

/** One JSON object a line, on the disk before it counts as delivered. A file that is full is renamed to `path.1`. */
function fileTarget({
  path,
  max_bytes: limitBytes,
  max_files: kept,
}: NonNullable<TargetSettings['file']>): Target {
  let handle: FileHandle | null = null;
  let bytes = 0;

  async function opened(): Promise<FileHandle> {
    if (handle !== null) return handle;
    await mkdir(dirname(path), { recursive: true });
    handle = await open(path, 'a');
    bytes = (await handle.stat()).size;
    return handle;
  }

  async function rotate(): Promise<void> {
    await handle?.close();
    handle = null;
    await rm(kept === 0 ? path : `${path}.${kept}`, { force: true });
    for (let number = kept - 1; number >= 0; number--) {
      const from = number === 0 ? path : `${path}.${number}`;
      await rename(from, `${path}.${number + 1}`).catch(() => {});
    }
  }

  return {
    problem: null,
    send: async (events) => {
      try {
        const text = events.map((event) => `${event}\n`).join('');
        const size = Buffer.byteLength(text);
        await opened();
        if (bytes > 0 && bytes + size > limitBytes) await rotate();
        const file = await opened();
        await file.appendFile(text);
        await file.datasync();
        bytes += size;
        return null;
      } catch (error) {
        await handle?.close().catch(() => {});
        handle = null;
        return `the file cannot be written: ${(error as Error).message}`;
      }
    },
    giveUp: () => {},
    close: async () => {
      await handle?.close();
      handle = null;
    },
  };
}

const CALLBACK_TIMEOUT_MS = 10_000;

function debugTarget(settings: NonNullable<TargetSettings['debug']>, world: TargetWorld): Target {
  const { log, callback_url: url, signing_secret: secret = '' } = settings;
  const key = hmacKey(Buffer.from(secret.replace(/^whsec_/, ''), 'base64'));
  /** Batches that were logged before their callback failed are not logged again. */
  let logged: readonly string[] | null = null;
  const ending = new AbortController();
  return {
    problem: null,
    send: async (events) => {
      if (log && logged !== events) world.say(events.map((event) => `${event}\n`).join(''));
      logged = events;
      return url === undefined
        ? null
        : post(url, events, { key, nowMs: world.nowMs(), ending: ending.signal });
    },
    giveUp: () => ending.abort(),
    close: async () => {},
  };
}

interface Posting {
  readonly key: ReturnType<typeof hmacKey>;
  readonly nowMs: number;
  readonly ending: AbortSignal;
}

/**
 * Posts a batch, signed as Standard Webhooks has it: HMAC-SHA256 over id, timestamp and body, joined by dots. The id
 * is the same when a batch is sent again.
 */
async function post(
  url: string,
  events: readonly string[],
  { key, nowMs, ending }: Posting,
): Promise<string | null> {
  const body = `{"events":[${events.join(',')}]}`;
  const first = JSON.parse(events[0]!) as { readonly event_id: string };
  const id = `batch_${first.event_id}_${events.length}`;
  const timestamp = String(Math.floor(nowMs / 1000));
  try {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.any([ending, AbortSignal.timeout(CALLBACK_TIMEOUT_MS)]),
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${hmac('sha256', key, [`${id}.${timestamp}.${body}`], 'base64')}`,
      },
      body,
    });
    await response.body?.cancel();
    return response.ok ? null : `the callback answered ${response.status}`;
  } catch (error) {
    return `the callback cannot be reached: ${(error as Error).message}`;
  }
}
