import { hmac, hmacKey } from '../crypto/digest.ts';

const CALLBACK_TIMEOUT_MS = 10_000;

export interface CallbackSettings {
  readonly url: string;
  readonly secret: string;
}

/** A request to a callback. */
interface Posting {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** What callbacks ask of the world. */
export interface CallbackWorld {
  readonly nowMs: () => number;
  /** The status of the answer to a POST; rejects when there is none. Where it may reach is not decided here. */
  readonly post: (url: string, posting: Posting) => Promise<number>;
}

/**
 * What is said of every attempt that failed. A key can choose the URL and read the status, so the status must not tell
 * a closed port from a silent one, or a name that resolves to a private address from one that does not resolve.
 */
const NOT_TAKEN = 'the callback has not taken the events';

/**
 * Posts batches to a URL, signed as Standard Webhooks has it: HMAC-SHA256 over id, timestamp and body, joined by dots.
 * The id is the same when a batch is sent again. A redirect is an answer like any other that is not 2xx.
 */
export function callback(
  { url, secret }: CallbackSettings,
  world: CallbackWorld,
): (events: readonly string[], ending: AbortSignal) => Promise<string | null> {
  const key = hmacKey(Buffer.from(secret.replace(/^whsec_/, ''), 'base64'));
  return async (events, ending) => {
    const body = `{"events":[${events.join(',')}]}`;
    const first = JSON.parse(events[0]!) as { readonly event_id: string };
    const id = `batch_${first.event_id}_${events.length}`;
    const timestamp = String(Math.floor(world.nowMs() / 1000));
    const headers = {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${hmac('sha256', key, [`${id}.${timestamp}.${body}`], 'base64')}`,
    };
    const signal = AbortSignal.any([ending, AbortSignal.timeout(CALLBACK_TIMEOUT_MS)]);
    const status = await world.post(url, { headers, body, signal }).catch(() => null);
    return status !== null && status >= 200 && status < 300 ? null : NOT_TAKEN;
  };
}
