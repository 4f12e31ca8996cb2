import { type CallbackWorld, callback } from './callback.ts';
import { type FileSettings, lineFile } from './file_target.ts';

/** The stored target of an event destination; exactly one member. */
export interface TargetSettings {
  readonly file?: FileSettings;
  readonly debug?: {
    readonly log: boolean;
    readonly callback_url?: string;
    readonly signing_secret?: string;
  };
  readonly [cloud: string]: unknown;
}

/** A destination of event batches. */
export interface Target {
  /** Why nothing can be sent, or null. */
  readonly problem: string | null;
  /** Sends events as JSON texts; null on success, otherwise the problem. */
  readonly send: (events: readonly string[]) => Promise<string | null>;
  /** Aborts the current request; its events count as undelivered. */
  readonly giveUp: () => void;
  readonly close: () => Promise<void>;
}

export interface TargetWorld extends CallbackWorld {
  /** Writes to standard output, for the logging target. */
  readonly say: (text: string) => void;
  /** Folder for event files; without it they are refused. */
  readonly eventFiles?: string;
}

/** Creates the sender of a destination. */
export function targetOf(id: string, { file, debug, ...cloud }: TargetSettings, world: TargetWorld): Target {
  if (file !== undefined) return fileTarget(id, file, world);
  if (debug !== undefined) return debugTarget(debug, world);
  const [name = 'nothing'] = Object.keys(cloud);
  return withoutSender(`this version has no sender for ${name}: events are not delivered`);
}

/** A target that sends nothing and reports why. */
function withoutSender(problem: string): Target {
  return { problem, send: async () => problem, giveUp: () => {}, close: async () => {} };
}

function fileTarget(id: string, settings: FileSettings, { eventFiles }: TargetWorld): Target {
  if (eventFiles === undefined)
    return withoutSender('event files are not allowed: the instance was started without a folder for them');
  // Destinations of older stores may have a path, which is no longer supported.
  if (typeof settings.name !== 'string') return withoutSender('the destination has a path; use a file name');
  const { append, close } = lineFile(eventFiles, id, settings);
  return { problem: null, send: append, giveUp: () => {}, close };
}

function debugTarget(settings: NonNullable<TargetSettings['debug']>, world: TargetWorld): Target {
  const { log, callback_url: url, signing_secret: secret = '' } = settings;
  const post = url === undefined ? null : callback({ url, secret }, world);
  /** Batches that were logged before their callback failed are not logged again. */
  let logged: readonly string[] | null = null;
  const ending = new AbortController();
  return {
    problem: null,
    send: async (events) => {
      if (log && logged !== events) world.say(events.map((event) => `${event}\n`).join(''));
      logged = events;
      return post === null ? null : post(events, ending.signal);
    },
    giveUp: () => ending.abort(),
    close: async () => {},
  };
}
