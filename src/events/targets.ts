import { type CallbackWorld, callback } from './callback.ts';
import { type FileSettings, lineFile } from './file_target.ts';

/** The target of an event destination as it is stored; exactly one member. */
export interface TargetSettings {
  readonly file?: FileSettings;
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

export interface TargetWorld extends CallbackWorld {
  /** Writes to standard output, for the target that logs. */
  readonly say: (text: string) => void;
  /** The folder that files may stand in; none when left out. */
  readonly eventFiles?: string;
}

/** Makes the sender for the target of a destination. */
export function targetOf(id: string, { file, debug, ...cloud }: TargetSettings, world: TargetWorld): Target {
  if (file !== undefined) return fileTarget(id, file, world);
  if (debug !== undefined) return debugTarget(debug, world);
  const [name = 'nothing'] = Object.keys(cloud);
  return silent(`this version has no sender for ${name}: events are not delivered`);
}

/** Sends nothing, and says why. */
function silent(problem: string): Target {
  return { problem, send: async () => problem, giveUp: () => {}, close: async () => {} };
}

function fileTarget(id: string, settings: FileSettings, { eventFiles }: TargetWorld): Target {
  if (eventFiles === undefined)
    return silent('files of events are not allowed: no folder was given for them');
  // Destinations of older stores have a path, which is not written to any more.
  if (typeof settings.name !== 'string')
    return silent('the destination names a path; give it a name of a file');
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
