import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { edgeWith, github } from './gate_edge.ts';
import { runs } from '../random.ts';

const COUNT = runs(10_000, 2_000);
const PAGE = { accept: 'text/html' };

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

const cookieOf = (response: Response): string => response.headers.getSetCookie()[0]!.split(';')[0]!;

describe(`${COUNT} pending logins at one gate`, () => {
  it('use no memory, and the first one can still be completed', async () => {
    const edge = edgeWith(github(), {
      clients: {
        fetch: ({ url }) => {
          const { pathname } = new URL(url);
          const body = pathname.endsWith('access_token')
            ? { access_token: 'token', token_type: 'bearer' }
            : pathname === '/user'
              ? { id: 7, login: 'alice' }
              : [];
          return {
            status: 200,
            headers: [],
            body: Buffer.from(JSON.stringify(body)),
            resolvedIp: '',
            timeMs: 0,
          };
        },
      },
      upstream: () => new Response('the app'),
    });
    const begin = async () =>
      (await edge.handle(new Request('https://app.test/', { headers: PAGE }))).response;
    const first = await begin();
    for (let turn = 0; turn < 500; turn++) await begin();
    const before = heapBytes();
    for (let turn = 0; turn < COUNT; turn++) expect((await begin()).status).toBe(302);
    // 100 bytes each would show.
    expect(heapBytes() - before).toBeLessThan(Math.max(1_000_000, COUNT * 100));
    const state = new URL(first.headers.get('location')!).searchParams.get('state')!;
    const callback = `https://app.test/auth/callback?code=c&state=${encodeURIComponent(state)}`;
    const headers = { ...PAGE, cookie: cookieOf(first) };
    const done = (await edge.handle(new Request(callback, { headers }))).response;
    expect([done.status, done.headers.get('location')]).toEqual([302, '/']);
    expect(edge.runtime.logins.sessions()).toHaveLength(1);
  });
});
