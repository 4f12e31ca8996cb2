import { createClient } from '@redis/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loginRegistry } from '../../src/auth/registry.ts';
import type { SharedAnswer, WhenUnavailable } from '../../src/engine/shared_question.ts';
import { newRateLimiter, take } from '../../src/filters/rate_limit/algorithm.ts';
import type { SharedState } from '../../src/shared_state/port.ts';
import { redisState } from '../../src/shared_state/redis.ts';
import { runs } from '../random.ts';
import { type OwnRedis, REDIS_SERVER, WITHOUT_REDIS, ownRedis } from './redis_server.ts';

const LIMIT = { do: 'take', limit: 'l', capacity: 10, windowMs: 60_000 } as const;
/** The bound of a request, and what a busy machine may add to it. */
const ANSWER_MS = 250;
/** For tests of counts on a busy machine. */
const PATIENT_MS = 20_000;
const SLACK_MS = 1_500;

describe.skipIf(REDIS_SERVER === null)(`a Redis of the test's own${WITHOUT_REDIS}`, () => {
  let redis: OwnRedis;
  const closing: (() => Promise<void>)[] = [];
  beforeEach(async () => {
    redis = await ownRedis();
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
    await redis.close();
  });

  async function node(
    whenUnavailable: WhenUnavailable = 'local',
    answerMs = ANSWER_MS,
  ): Promise<SharedState & { said: string[] }> {
    const said: string[] = [];
    const state = await redisState({
      url: redis.url,
      whenUnavailable,
      answerMs,
      say: (line) => void said.push(line),
    });
    closing.push(state.close);
    return { ...state, said };
  }
  const isUnavailable = (answer: SharedAnswer): boolean => 'unavailable' in answer;
  const once = async (state: SharedState, id: string, sinceMs = Date.now()) =>
    state.ask({ do: 'use_once', of: 'message', id, sinceMs, untilMs: Date.now() + 60_000 });
  async function untilAnswered(state: SharedState): Promise<void> {
    await expect
      .poll(async () => isUnavailable(await state.ask({ do: 'find', id: 'x' })), { timeout: 15_000 })
      .toBe(false);
  }

  it('admits no more than the limit over four nodes at once, as a single process would', async () => {
    const nodes = await Promise.all(Array.from({ length: 4 }, () => node('local', PATIENT_MS)));
    const capacity = 1_000;
    const each = runs(4_000, 600);
    const all = await Promise.all(
      nodes.flatMap((state) =>
        Array.from({ length: each }, async () => state.ask({ ...LIMIT, capacity, key: 'k' })),
      ),
    );
    expect(all.filter(isUnavailable)).toEqual([]);
    expect(all.filter((answer) => 'waitMs' in answer && answer.waitMs === 0)).toHaveLength(capacity);
    const single = newRateLimiter({ capacity, windowMs: 60_000, keyLimit: 10 });
    let waitMs = 0;
    for (let at = 0; at <= capacity; at++) waitMs = take(single, 'k', Date.now());
    const refused = all.flatMap((answer) => ('waitMs' in answer && answer.waitMs > 0 ? [answer.waitMs] : []));
    // The slot of the server's clock began at most one slot before.
    for (const wait of refused) {
      expect(wait).toBeGreaterThan(60_000 - 6_000);
      expect(wait).toBeLessThanOrEqual(66_000);
    }
    expect(waitMs).toBeLessThanOrEqual(66_000);
  });

  it('counts what keys beyond their number shared for a key that gets its own window', async () => {
    const state = await node('local', PATIENT_MS);
    const client = await createClient({ url: redis.url }).connect();
    closing.push(() => client.close());
    const taken = async (key: string) =>
      ((await state.ask({ ...LIMIT, key, capacity: 3 })) as { waitMs: number }).waitMs;
    expect(await taken('first')).toBe(0);
    // As if a million keys were in use.
    const [used] = await client.keys('*|used *');
    await client.set(used!, '1000000', { expiration: 'KEEPTTL' });
    expect([await taken('late'), await taken('late'), await taken('late')]).toEqual([0, 0, 0]);
    await client.del(used!);
    expect(await taken('late')).toBeGreaterThan(0);
    expect(await taken('first')).toBe(0);
  });

  it('admits again when the window has passed', async () => {
    const state = await node();
    const short = { ...LIMIT, key: 'k', capacity: 2, windowMs: 1_000 };
    const waits: number[] = [];
    for (let at = 0; at < 3; at++) waits.push(((await state.ask(short)) as { waitMs: number }).waitMs);
    expect(waits.slice(0, 2)).toEqual([0, 0]);
    expect(waits[2]).toBeGreaterThan(800);
    await expect.poll(() => state.ask(short), { timeout: 30_000 }).toEqual({ waitMs: 0 });
  });

  it('marks an id once for all nodes, and keeps texts', async () => {
    const nodes = await Promise.all([node(), node(), node()]);
    const uses = await Promise.all(nodes.map((state) => once(state, 'a')));
    expect(uses.filter((answer) => 'use' in answer && answer.use === 'fresh')).toHaveLength(1);
    expect(uses.filter((answer) => 'use' in answer && answer.use === 'used')).toHaveLength(2);
    await nodes[0].ask({ do: 'keep', id: 't', text: 'sealed', untilMs: Date.now() + 10_000 });
    expect(await nodes[1].ask({ do: 'find', id: 't' })).toEqual({ text: 'sealed' });
    expect(await nodes[1].ask({ do: 'find', id: 'none' })).toEqual({ text: null });
  });

  it('forgets the mark of a check at its time: its process may have ended', async () => {
    const state = await node();
    const check = async () => {
      const sinceMs = Date.now();
      return state.ask({ do: 'use_once', of: 'check', id: 'c', sinceMs, untilMs: sinceMs + 1_000 });
    };
    expect(await check()).toEqual({ use: 'fresh' });
    expect(await check()).toEqual({ use: 'used' });
    await expect.poll(check, { timeout: 20_000 }).toEqual({ use: 'fresh' });
  });

  it('answers within the bound while the server is paused, then at once, and is back after it', async () => {
    const state = await node('deny');
    redis.kill('SIGSTOP');
    const began = performance.now();
    const first = await Promise.all(
      Array.from({ length: 200 }, async () => state.ask({ ...LIMIT, key: 'k' })),
    );
    expect(first.every((answer) => 'unavailable' in answer && answer.unavailable === 'deny')).toBe(true);
    expect(performance.now() - began).toBeLessThan(ANSWER_MS + SLACK_MS);
    const again = performance.now();
    for (let at = 0; at < 1_000; at++) await state.ask({ ...LIMIT, key: 'k' });
    expect(performance.now() - again).toBeLessThan(ANSWER_MS);
    redis.kill('SIGCONT');
    await untilAnswered(state);
    expect(state.said).toEqual([
      expect.stringContaining('limits refuse, logins cannot be completed'),
      'the shared state is back',
    ]);
  });

  it('does not take a stall of its own process for silence of the server', async () => {
    const state = await node();
    const answers = Promise.all([1, 2, 3].map(async (at) => state.ask({ do: 'find', id: String(at) })));
    await new Promise((resolve) => setImmediate(resolve));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ANSWER_MS + 50);
    expect((await answers).filter(isUnavailable)).toEqual([]);
    expect(state.said).toEqual([]);
  });

  it('says once that the server refuses commands, and that it is back when it takes them again', async () => {
    const state = await node('deny');
    const server = createClient({ url: redis.url });
    await server.connect();
    closing.push(async () => server.destroy());
    const asked = async (key: string) => isUnavailable(await state.ask({ ...LIMIT, key }));
    expect(await asked('a')).toBe(false);
    await server.configSet('maxmemory', '1');
    for (const key of ['b', 'c', 'd']) {
      expect(await asked(key)).toBe(true);
      // What only reads is answered, which must not make it say that all is well.
      expect(isUnavailable(await state.ask({ do: 'find', id: 'x' }))).toBe(false);
    }
    expect(state.said).toEqual([expect.stringMatching(/cannot be used \(OOM .*limits refuse/)]);
    await server.configSet('maxmemory', '0');
    await expect.poll(async () => (await asked('e')) || state.said.length, { timeout: 15_000 }).toBe(2);
    expect(state.said[1]).toBe('the shared state is back');
  });

  it('survives kill -9 in the middle of questions; an id of before cannot be used after data were lost', async () => {
    const state = await node();
    const madeMs = Date.now();
    expect(await once(state, 'a', madeMs)).toEqual({ use: 'fresh' });
    const flight = Promise.all(Array.from({ length: 500 }, async () => state.ask({ ...LIMIT, key: 'k' })));
    redis.kill('SIGKILL');
    expect((await flight).every((answer) => 'waitMs' in answer || 'unavailable' in answer)).toBe(true);
    await redis.restart();
    await untilAnswered(state);
    // The server knows nothing of it, and that it does not.
    expect(await once(state, 'a', madeMs)).toEqual({ use: 'unknown' });
    expect(await once(state, 'b', madeMs)).toEqual({ use: 'unknown' });
    await expect.poll(() => once(state, 'c', Date.now())).toEqual({ use: 'fresh' });
  });

  it('notices that its data were deleted', async () => {
    const [state, other] = [await node(), await node()];
    const { redisConnection } = await import('../../src/clients/redis.ts');
    const connection = redisConnection({ url: redis.url, pendingLimit: 10, silenceMs: 5_000 });
    await connection.connect();
    await connection.sendCommand(['FLUSHALL']);
    await connection.sendCommand(['SCRIPT', 'FLUSH']);
    connection.destroy();
    expect(await once(state, 'a')).toEqual({ use: 'unknown' });
    let asked = 0;
    await expect.poll(() => once(state, `b${asked++}`, Date.now())).toEqual({ use: 'fresh' });
    expect(await other.ask({ ...LIMIT, key: 'k' })).toEqual({ waitMs: 0 });
  });

  it('ends sessions at all nodes within a second, at one that starts later, and after the server lost them', async () => {
    const nodes = await Promise.all([node(), node(), node()]);
    const registries = nodes.map(() => loginRegistry());
    await Promise.all(nodes.map((state, at) => state.join(registries[at]!)));
    const startMs = Date.now() - 1_000;
    const session = (id: string) => ({ id, provider: 'p', user: { id: 'ann' }, startMs }) as never;
    const areEnded = (id: string) => registries.map(({ isRevoked }) => isRevoked(session(id)));
    registries[0]!.revokeSession('one', Date.now());
    const began = performance.now();
    expect(await nodes[0].ask({ do: 'publish' })).toEqual({ done: true });
    await expect.poll(() => areEnded('one'), { interval: 10 }).toEqual([true, true, true]);
    expect(performance.now() - began).toBeLessThan(1_000);
    expect(areEnded('two')).toEqual([false, false, false]);

    const late = loginRegistry();
    await (await node()).join(late);
    expect(late.isRevoked(session('one'))).toBe(true);

    redis.kill('SIGKILL');
    // Ended while the server is away.
    registries[1]!.revokeSession('two', Date.now());
    await redis.restart();
    await expect.poll(() => areEnded('two'), { timeout: 15_000 }).toEqual([true, true, true]);
    const afterLoss = loginRegistry();
    await (await node()).join(afterLoss);
    await expect.poll(() => afterLoss.isRevoked(session('one'))).toBe(true);
    expect(afterLoss.isRevoked(session('two'))).toBe(true);
  });

  it('bounds the keys of a limit: those beyond share one window', async () => {
    const { redisConnection } = await import('../../src/clients/redis.ts');
    const { TAKE } = await import('../../src/shared_state/redis_scripts.ts');
    const connection = redisConnection({ url: redis.url, pendingLimit: 1_000, silenceMs: 5_000 });
    await connection.connect();
    const ask = (key: string) =>
      connection.sendCommand(['EVAL', TAKE, '3', `l:${key}`, 'l|shared', 'l|used ', '2', '6000', '5']);
    const replies: unknown[] = [];
    for (const key of 'abcdefgh') replies.push(await ask(key));
    expect(replies.slice(0, 7)).toEqual([0, 0, 0, 0, 0, 0, 0]);
    expect(replies[7]).toBeGreaterThan(0);
    // Those that have their own window keep it.
    expect(await ask('a')).toBe(0);
    expect(await connection.sendCommand(['DBSIZE'])).toBeLessThanOrEqual(8);
    connection.destroy();
  });

  it('a node does not start while it cannot know which sessions have ended', async () => {
    redis.kill('SIGKILL');
    await expect(
      redisState({ url: redis.url, whenUnavailable: 'local', startMs: 300, say: () => undefined }),
    ).rejects.toThrow(/cannot reach the shared state: .*ECONNREFUSED.*correct --shared/);
  });
});
