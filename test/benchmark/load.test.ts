import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import {
  constantArrivals,
  poissonArrivals,
  type LoadResult,
  type Timing,
  runLoad,
} from '../../src/benchmark/load/run.ts';
import { sweep } from '../../src/benchmark/load/sweep.ts';
import { type Target, isLoopback, openTarget } from '../../src/benchmark/load/target.ts';
import { quantile } from '../../src/benchmark/statistics.ts';
import { seededChance } from '../../src/engine/drivers/seeded_chance.ts';
import { virtualClock } from '../../src/simulator/virtual_clock.ts';

/** A server on a virtual clock that answers one after another, and stands still for a while. */
function virtualServer(serviceMs: number, stall: { readonly atMs: number; readonly forMs: number } | null) {
  const clock = virtualClock(0);
  const timing: Timing = {
    nowMs: clock.nowMs,
    after: (ms, then) => clock.schedule(clock.nowMs() + ms, then),
  };
  let freeMs = 0;
  const target: Target = {
    send: (ended) => {
      let beginMs = Math.max(freeMs, clock.nowMs());
      if (stall !== null && beginMs >= stall.atMs && beginMs < stall.atMs + stall.forMs)
        beginMs = stall.atMs + stall.forMs;
      freeMs = beginMs + serviceMs;
      clock.schedule(freeMs, () => ended({ status: 200 }));
    },
    close: async () => {},
  };
  const run = async (rate: number, durationMs: number): Promise<LoadResult> => {
    const result = runLoad(target, constantArrivals(rate), {
      durationMs,
      warmUpMs: 0,
      patienceMs: 1e6,
      timing,
    });
    while (clock.step());
    return result;
  };
  return { run };
}

describe('an open model', () => {
  it('counts a stall of 100 ms for all requests that were due meanwhile', async () => {
    const { latency, sent } = await virtualServer(0.1, { atMs: 500, forMs: 100 }).run(1_000, 2_000);
    // By hand: whoever comes within the stall waits for its end, and those before in the queue.
    const waits: number[] = [];
    let freeMs = 0;
    for (let due = 0; due < 2_000; due++) {
      let begin = Math.max(freeMs, due);
      if (begin >= 500 && begin < 600) begin = 600;
      freeMs = begin + 0.1;
      waits.push(freeMs - due);
    }
    const expected = quantile(
      waits.toSorted((one, other) => one - other),
      0.99,
    );
    expect(sent).toBe(2_000);
    expect(expected).toBeGreaterThan(70);
    expect(latency.p99 / 1e6).toBeGreaterThan(expected * 0.9);
    expect(latency.p99 / 1e6).toBeLessThan(expected * 1.1);
  });

  it('shows a growing queue when the rate exceeds the throughput', async () => {
    const { latency, service } = await virtualServer(2, null).run(1_000, 1_000);
    expect(latency.max / 1e6).toBeGreaterThan(900);
    expect(service.max / 1e6).toBeGreaterThan(900);
  });

  it('finds the knee of a server that answers 500 a second', async () => {
    const { knee, steps } = await sweep((rate) => virtualServer(2, null).run(rate, 1_000), {
      from: 50,
      to: 10_000,
      limitNs: 50e6,
    });
    expect(knee).toBeGreaterThan(430);
    expect(knee).toBeLessThanOrEqual(530);
    expect(steps.some(({ held }) => !held)).toBe(true);
  });
});

describe('arrivals', () => {
  it('of Poisson have the rate, with exponential gaps', () => {
    const arrivals = poissonArrivals(1_000, seededChance('poisson').random);
    const times = Array.from({ length: 20_000 }, () => arrivals.next().value);
    const gaps = times.slice(1).map((time, at) => time - times[at]!);
    const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
    expect(mean).toBeGreaterThan(0.97);
    expect(mean).toBeLessThan(1.03);
    expect(gaps.filter((gap) => gap > 1).length / gaps.length).toBeCloseTo(Math.exp(-1), 1);
  });
});

describe('a real server', () => {
  it('gets the configured requests, and its responses are counted', async () => {
    let seen = 0;
    const server = createServer((request, response) => {
      seen++;
      response.writeHead(request.headers['x-fail'] === 'yes' ? 503 : 200).end('ok');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const url = new URL(`http://127.0.0.1:${port}/`);
    const options = { http2: false, connections: 16, timeoutMs: 5_000, insecure: false };
    const target = openTarget({ url, method: 'GET', headers: { 'x-fail': 'yes' }, body: null }, options);
    const result = await runLoad(target, constantArrivals(200), {
      durationMs: 300,
      warmUpMs: 100,
      patienceMs: 5_000,
    });
    await target.close();
    server.close();
    expect(result.sent).toBe(60);
    expect(result.statuses).toEqual({ 503: 60 });
    expect(seen).toBe(80);
  });

  it('that is unreachable gives failures, not responses', async () => {
    const url = new URL('http://127.0.0.1:1/');
    const target = openTarget(
      { url, method: 'GET', headers: {}, body: null },
      { http2: false, connections: 4, timeoutMs: 2_000, insecure: false },
    );
    const result = await runLoad(target, constantArrivals(50), {
      durationMs: 100,
      warmUpMs: 0,
      patienceMs: 3_000,
    });
    await target.close();
    expect(result.completed).toBe(0);
    expect(result.failures).toEqual({ ECONNREFUSED: 5 });
  });
});

it('recognises URLs of this machine', () => {
  const stays = ['http://localhost/', 'http://127.9.9.9/', 'http://[::1]:80/', 'http://a.localhost/'];
  const leaves = [
    'http://example.com/',
    'http://10.0.0.1/',
    'http://127.0.0.1.example.com/',
    'http://[2001:db8::1]/',
  ];
  expect(stays.filter((url) => isLoopback(new URL(url)))).toEqual(stays);
  expect(leaves.filter((url) => isLoopback(new URL(url)))).toEqual([]);
});
