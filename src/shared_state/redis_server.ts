import type { RedisConnection } from '../clients/redis.ts';
import { digest } from '../crypto/digest.ts';
import { errorText } from '../diagnostics/message_text.ts';
import { END, MEET, TAKE, USE_ONCE } from './redis_scripts.ts';

/** Names of keys. */
export const KEYS = {
  limit: 'edgeproof:limit:',
  once: 'edgeproof:once:',
  text: 'edgeproof:text:',
  /** Time since which ids are remembered, and the process of the server that has remembered them. */
  since: 'edgeproof:since',
  process: 'edgeproof:process',
  /** Ends of sessions: the times by key, the stream that nodes read, and the time before which all have ended. */
  endTimes: 'edgeproof:end_times',
  ends: 'edgeproof:ends',
  endsBefore: 'edgeproof:ends_before',
} as const;

/** A server, met on each connection before anything is asked. */
export interface Server {
  readonly run: (
    script: string,
    keys: readonly string[],
    values: readonly (string | number)[],
  ) => Promise<unknown>;
  readonly send: (words: readonly string[]) => Promise<unknown>;
  /** Loads the scripts, and notes whether the server is another process than before. */
  readonly meet: () => Promise<void>;
  readonly isMet: () => boolean;
  /** Resolves when it is met for the first time. */
  readonly met: () => Promise<void>;
  /** `isNew`: it may have forgotten what it knew. */
  readonly onMet: (hear: (isNew: boolean) => void) => void;
  readonly onLost: (hear: (detail: string) => void) => void;
}

const SCRIPTS = [TAKE, USE_ONCE, MEET, END];
const NAMES = new Map(SCRIPTS.map((script) => [script, digest('sha1', [script], 'hex')]));

export function redisServer(connection: RedisConnection): Server {
  const hearers: ((isNew: boolean) => void)[] = [];
  const first = Promise.withResolvers<void>();
  const losing: ((detail: string) => void)[] = [];
  let isMet = false;
  const send: Server['send'] = (words) => connection.sendCommand(words);
  const run: Server['run'] = async (script, keys, values) => {
    const rest = [String(keys.length), ...keys, ...values.map(String)];
    try {
      return await send(['EVALSHA', NAMES.get(script)!, ...rest]);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return send(['EVAL', script, ...rest]);
    }
  };
  connection.on('error', (error) => {
    isMet = false;
    for (const hear of losing) hear(errorText(error));
  });
  return {
    send,
    run,
    meet: async () => {
      await Promise.all(SCRIPTS.map((script) => send(['SCRIPT', 'LOAD', script])));
      const about = String(await send(['INFO', 'server']));
      const id = /^run_id:(\w+)/m.exec(about)?.[1] ?? '';
      const isNew = (await run(MEET, [KEYS.process, KEYS.since], [id])) === 1;
      isMet = connection.isReady;
      for (const hear of hearers) hear(isNew);
      first.resolve();
    },
    isMet: () => isMet && connection.isReady,
    met: () => first.promise,
    onMet: (hear) => void hearers.push(hear),
    onLost: (hear) => void losing.push(hear),
  };
}
