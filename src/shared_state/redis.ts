import type { SharedAnswer, SharedRequest, WhenUnavailable } from '../engine/shared_question.ts';
import { type RedisConnection, redisConnection } from '../clients/redis.ts';
import { digest } from '../crypto/digest.ts';
import { errorText } from '../diagnostics/message_text.ts';
import { KEY_LIMIT, SLOTS } from '../filters/rate_limit/algorithm.ts';
import { lateAfter } from './late_after.ts';
import { PENDING_LIMIT, type SharedState, TEXT_LIMIT_UNITS } from './port.ts';
import { KEYS, type Server, redisServer } from './redis_server.ts';
import { redisEnds } from './redis_ends.ts';
import { TAKE, USE_ONCE } from './redis_scripts.ts';

export interface RedisOptions {
  /** `redis://` or `rediss://`, with user, password and number of the database. */
  readonly url: string;
  readonly whenUnavailable: WhenUnavailable;
  /** How long a request waits for an answer, in ms; default 250. */
  readonly answerMs?: number;
  /** How long the start waits for the first connection, in ms; default 5,000. */
  readonly startMs?: number;
  /** Reports that the link is lost, or back. */
  readonly say: (line: string) => void;
}

/** The server cannot be reached, or cannot be used. */
class SharedStateError extends Error {
  override readonly name = 'SharedStateError';
}

const ANSWER_MS = 250;
const START_MS = 5_000;
const MEET_AGAIN_MS = 200;
/** Silence after which a connection is given up. */
const SILENCE_MS = 2_000;
/** An id is remembered for longer than it may be used, because the clocks of nodes differ. */
const CLOCKS_DIFFER_MS = 60_000;
const LONGER_MS = {
  state: CLOCKS_DIFFER_MS,
  message: CLOCKS_DIFFER_MS,
  assertion: CLOCKS_DIFFER_MS,
  check: 0,
} as const;
const LEAST_LIFE_MS = 1_000;

/**
 * The state of one Redis (or Valkey) server. Each question is one command; limits are counted by a script on the
 * server's clock. While the server does not answer in time nothing more is asked, so that only the first requests wait.
 * Throws SharedStateError if the server cannot be reached at the start: a node that does not know which sessions have
 * ended must not serve.
 */
export async function redisState(options: RedisOptions): Promise<SharedState> {
  const { url, whenUnavailable, answerMs = ANSWER_MS, startMs = START_MS, say } = options;
  const settings = { url, pendingLimit: PENDING_LIMIT, silenceMs: SILENCE_MS };
  const connections = [redisConnection(settings), redisConnection(settings)] as const;
  const server = redisServer(connections[0]);
  const ends = redisEnds(server, connections[1]);
  const link = linkOf(server, whenUnavailable, say);
  // A server that has just started may still be loading its data.
  const meet = (): void =>
    void server.meet().then(link.open, (error: unknown) => {
      link.fail(error);
      if (connections[0].isReady) setTimeout(meet, MEET_AGAIN_MS).unref();
    });
  connections[0].on('ready', meet);
  server.onMet((isNew) => void (isNew && ends.repeat()));

  const unavailable = (detail: string): SharedAnswer => ({ unavailable: whenUnavailable, detail });
  /** The answer of a command, within the bound. */
  const bounded = <Reply>(
    promised: Promise<Reply>,
    read: (reply: Reply) => SharedAnswer,
    waitMs = answerMs,
  ): Promise<SharedAnswer> =>
    new Promise((resolve) => {
      const stop = lateAfter(waitMs, () => {
        link.silent();
        resolve(unavailable('no answer in time'));
      });
      promised.then(
        (reply) => {
          stop();
          link.heard();
          resolve(read(reply));
          return null;
        },
        (error: unknown) => {
          stop();
          link.refused(error);
          resolve(unavailable(errorText(error)));
        },
      );
    });
  await started(connections, server, startMs);
  return {
    ask: (request) => {
      if (request.do === 'publish') return bounded(ends.published(), () => DONE, PUBLISH_MS);
      if (!link.isUp()) return unavailable('the shared state is not connected');
      return bounded(
        commandFor(request, server),
        (reply) => answerOf(request, reply, server) ?? unavailable('an answer that is not one of Redis'),
      );
    },
    join: async (registry) => {
      await ends.join(registry);
    },
    close: async () => {
      ends.close();
      link.close();
      for (const connection of connections) connection.destroy();
    },
  };
}

/** A server that refuses some commands is back when it has only answered for this time. */
const REFUSES_MS = 2_000;
/** A logout waits for longer than a request. */
const PUBLISH_MS = 1_000;
const DONE = { done: true } as const;

function commandFor(request: Exclude<SharedRequest, { do: 'publish' }>, server: Server): Promise<unknown> {
  switch (request.do) {
    case 'take': {
      const { limit, key, capacity, windowMs } = request;
      const name = `${KEYS.limit}${limit} ${capacity} ${windowMs}`;
      const keys = [`${name}:${key}`, `${name}|shared`, `${name}|used `];
      return server.run(TAKE, keys, [capacity, windowMs / SLOTS, KEY_LIMIT]);
    }
    case 'use_once': {
      const { of, id, sinceMs, untilMs } = request;
      const lifeMs = Math.max(LEAST_LIFE_MS, Math.ceil(untilMs - Date.now())) + LONGER_MS[of];
      return server.run(USE_ONCE, [`${KEYS.once}${of} ${hashOf(id)}`, KEYS.since], [lifeMs, sinceMs]);
    }
    case 'keep': {
      const { id, text, untilMs } = request;
      const lifeMs = Math.max(1, Math.ceil(untilMs - Date.now()));
      if (text.length > TEXT_LIMIT_UNITS) return Promise.resolve(null);
      return server.send(['SET', KEYS.text + hashOf(id), text, 'PX', String(lifeMs)]);
    }
    case 'find':
      return server.send(['GET', KEYS.text + hashOf(request.id)]);
  }
}

/** Ids contain names of sessions and assertions of any length; the server needs neither. */
function hashOf(id: string): string {
  return digest('sha256', [id], 'base64');
}

/** Null for an answer that the command does not have: a limit must not let a request pass for it. */
function answerOf(request: SharedRequest, reply: unknown, server: Server): SharedAnswer | null {
  switch (request.do) {
    case 'take':
      return typeof reply === 'number' ? { waitMs: reply } : null;
    case 'use_once':
      // The data were deleted while the connection stayed.
      if (reply === -2) void server.meet().catch(() => undefined);
      return { use: reply === 1 ? 'fresh' : reply === 0 ? 'used' : 'unknown' };
    case 'find':
      return { text: typeof reply === 'string' ? reply : null };
    case 'keep':
    case 'publish':
      return DONE;
  }
}

/** Whether questions are asked: the server has been met on this connection, and answers. */
function linkOf(server: Server, whenUnavailable: WhenUnavailable, say: (line: string) => void) {
  let isSilent = false;
  let refusedAt: number | null = null;
  let wasUp: boolean | null = null;
  let isClosed = false;
  const limits = {
    local: 'each node counts limits by itself',
    deny: 'limits refuse',
    allow: 'limits let pass',
  };
  const report = (isUp: boolean, detail: string): void => {
    if (wasUp === isUp || isClosed) return;
    if (wasUp !== null || !isUp)
      say(
        isUp
          ? 'the shared state is back'
          : `the shared state cannot be used (${detail}): ${limits[whenUnavailable]}, logins cannot be completed`,
      );
    wasUp = isUp;
  };
  server.onLost((detail) => report(false, detail));
  return {
    isUp: () => !isSilent && server.isMet(),
    open: () => {
      isSilent = false;
      report(true, '');
    },
    fail: (error: unknown) => report(false, errorText(error)),
    silent: () => {
      isSilent = true;
      report(false, 'no answer in time');
    },
    /** Also called for answers that came too late. */
    heard: () => {
      const isOver = refusedAt !== null && performance.now() - refusedAt > REFUSES_MS;
      if (!isSilent && !isOver) return;
      if (isOver) refusedAt = null;
      isSilent = false;
      report(server.isMet(), 'the connection is closed');
    },
    /** It answers, with an error: its memory is full, it became a replica, or its user may not run the command. */
    refused: (error: unknown) => {
      refusedAt = performance.now();
      report(false, errorText(error));
    },
    close: () => void (isClosed = true),
  };
}

async function started(
  connections: readonly RedisConnection[],
  server: Server,
  startMs: number,
): Promise<void> {
  let last: unknown = 'no answer in time';
  for (const connection of connections) {
    connection.on('error', (error) => void (last = error));
    void connection.connect().catch((error: unknown) => void (last = error));
  }
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => (timer = setTimeout(resolve, startMs, false)));
  const isMet = await Promise.race([server.met().then(() => true), late]);
  clearTimeout(timer);
  if (isMet) return;
  for (const connection of connections) connection.destroy();
  const cause = last instanceof Error ? errorText(last) : String(last);
  throw new SharedStateError(
    `cannot reach the shared state: ${cause}; start the server, or correct --shared`,
  );
}
