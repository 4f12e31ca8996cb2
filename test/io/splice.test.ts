import { duplexPair } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { splice } from '../../src/io/splice.ts';

const IDLE_MS = 300_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** A tunnel between two peers, one of which reads all it gets and never ends. */
function tunnel(isWebSocket: boolean) {
  const [client, ofClient] = duplexPair();
  const [upstream, ofUpstream] = duplexPair();
  const ending = { stop: new AbortController().signal, isWebSocket };
  const spliced = splice(ofClient, ofUpstream, IDLE_MS, ending);
  client.resume();
  upstream.resume();
  return { client, upstream, spliced };
}

/** Until what was written or ended has passed through. */
const passed = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

describe('a tunnel whose client has ended while its upstream stays silent', () => {
  it.each([
    ['a WebSocket', true, 10_000],
    ['another protocol', false, IDLE_MS],
  ])('%s ends', async (_, isWebSocket, afterMs) => {
    const { client, upstream, spliced } = tunnel(isWebSocket);
    let isOver = false;
    void spliced.then(() => (isOver = true));
    client.end('last');
    await passed();
    vi.advanceTimersByTime(afterMs - 1);
    upstream.write('answer');
    await passed();
    vi.advanceTimersByTime(afterMs - 1);
    await passed();
    expect(isOver).toBe(false);
    vi.advanceTimersByTime(1);
    expect(await spliced).toEqual({ toUpstreamBytes: 4, toClientBytes: 6, cut: 'client' });
  });
});

it('a tunnel that both sides end is complete', async () => {
  const { client, upstream, spliced } = tunnel(true);
  client.end('last');
  upstream.end('answer');
  expect(await spliced).toEqual({ toUpstreamBytes: 4, toClientBytes: 6, cut: 'none' });
});
