import type { RedisConnection } from '../clients/redis.ts';
import { REVOCATIONS_LIMIT } from '../auth/registry.ts';
import type { LoginEnd } from '../auth/revocations.ts';
import type { SharedRegistry } from './port.ts';
import { END } from './redis_scripts.ts';
import { KEYS, type Server } from './redis_server.ts';

/** The ends of sessions in Redis: a stream that every node reads to its end, and each writes what it has ended. */
export interface RedisEnds {
  readonly join: (registry: SharedRegistry) => Promise<void>;
  /** Resolves when everything that has ended here is with the server. */
  readonly published: () => Promise<void>;
  /** Writes all ends again, because the server may have lost them; it keeps each once. */
  readonly repeat: () => void;
  readonly close: () => void;
}

const BATCH = 500;
const READ_COUNT = 1_000;
const BLOCK_MS = 400;
const PAUSE_MS = 100;
/** Ends that wait for the server; if more do, all that are known are written when it is back. */
const WAITING_LIMIT = 10_000;

export function redisEnds(server: Server, reader: RedisConnection): RedisEnds {
  const registries: SharedRegistry[] = [];
  const { enqueue, repeat, published } = endsWriter(server, registries);
  const { begin, close } = endsReader(reader, registries);
  return {
    published,
    repeat,
    close,
    join: async (registry) => {
      registries.push(registry);
      registry.onEnd((end) => enqueue([end]));
      const isRead = begin();
      enqueue(registry.all());
      await isRead;
    },
  };
}

/** Writes what has ended here; what cannot be written waits until the server is met again. */
function endsWriter(server: Server, registries: readonly SharedRegistry[]) {
  let waiting: LoginEnd[] = [];
  let isWriting = false;
  let writing: Promise<void> = Promise.resolve();
  const everything = (): LoginEnd[] => registries.flatMap(({ all }) => all());
  const enqueue = (ends: readonly LoginEnd[]): void => {
    waiting = waiting.concat(ends);
    if (waiting.length > REVOCATIONS_LIMIT + WAITING_LIMIT) waiting = everything();
    void flush().catch(() => undefined);
  };
  const flush = (): Promise<void> => {
    if (!isWriting) writing = write();
    return writing;
  };
  // Between the last look at what waits and the end of writing there is no `await`, so that nothing waits forever.
  const write = async (): Promise<void> => {
    isWriting = true;
    try {
      while (waiting.length > 0) {
        const batch = waiting.slice(0, BATCH);
        const words = batch.flatMap(({ key, ms }) => [key, ms]);
        await server.run(END, [KEYS.endTimes, KEYS.ends, KEYS.endsBefore], [REVOCATIONS_LIMIT, ...words]);
        waiting = waiting.slice(batch.length);
      }
    } finally {
      isWriting = false;
    }
  };
  server.onMet(() => void flush().catch(() => undefined));
  return {
    enqueue,
    repeat: () => enqueue(everything()),
    published: async () => {
      while (waiting.length > 0) await flush();
    },
  };
}

/** Reads the stream to its end, and then what is added. */
function endsReader(reader: RedisConnection, registries: readonly SharedRegistry[]) {
  const closing = new AbortController();
  let caughtUp = Promise.withResolvers<void>();
  let isReading = false;
  let last = '0';
  // Whatever server answers from now on may have another stream; what is known already changes nothing.
  reader.on('ready', () => void (last = '0'));
  const readOn = async (): Promise<void> => {
    const [from, waiter] = [last, caughtUp];
    const words = [
      'XREAD',
      'COUNT',
      String(READ_COUNT),
      'BLOCK',
      String(BLOCK_MS),
      'STREAMS',
      KEYS.ends,
      from,
    ];
    const reply = (await reader.sendCommand(words)) as StreamReply;
    const entries = reply?.[0]?.[1] ?? [];
    for (const { restore } of registries) restore(...endsOf(entries));
    // The connection may have been opened again meanwhile.
    if (last === from && entries.length > 0) last = entries.at(-1)![0];
    if (entries.length < READ_COUNT) waiter.resolve();
  };
  const read = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      try {
        await readOn();
      } catch {
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS).unref());
      }
    }
  };
  return {
    /** Resolves when all that is there has been read for all registries. */
    begin: (): Promise<void> => {
      caughtUp = Promise.withResolvers<void>();
      last = '0';
      if (!isReading) void read();
      isReading = true;
      return caughtUp.promise;
    },
    close: () => closing.abort(),
  };
}

function endsOf(entries: readonly Entry[]): [ends: readonly LoginEnd[], allBeforeMs: number] {
  const before = entries.at(-1)?.[1][5] ?? '';
  return [
    entries.map(([, [, key, , ms]]) => ({ key, ms: Number(ms) })),
    before === '' ? Number.NEGATIVE_INFINITY : Number(before),
  ];
}

type Fields = readonly [k: string, key: string, m: string, ms: string, b: string, before: string];
type Entry = readonly [id: string, fields: Fields];
type StreamReply = readonly (readonly [stream: string, entries: readonly Entry[]])[] | null;
