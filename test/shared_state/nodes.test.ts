import { CookieJar } from 'tough-cookie';
import { afterEach, describe, expect, it } from 'vitest';
import { createOidcAnswers } from '../../src/clients/oidc.ts';
import { type EdgeOptions, createEdge } from '../../src/edgeproof.ts';
import type { WhenUnavailable } from '../../src/engine/shared_question.ts';
import { stateHub } from '../../src/shared_state/hub.ts';
import type { SharedState } from '../../src/shared_state/port.ts';
import { browserOf, codeOf } from '../auth/browser.ts';
import { type Evil, SECRET, evilOp } from '../auth/evil_op.ts';
import { ISSUER, edgeWith } from '../auth/gate_edge.ts';
import { nodeOf } from './hub_links.ts';

const cutting: (() => void)[] = [];
afterEach(() => {
  for (const cut of cutting.splice(0)) cut();
});

function nodes(count: number, whenUnavailable: WhenUnavailable = 'local', nowMs: () => number = Date.now) {
  const hub = stateHub(nowMs);
  return Array.from({ length: count }, () => {
    const node = nodeOf(hub, whenUnavailable, 50);
    cutting.push(node.cut);
    return node;
  });
}

const SESSION_KEYS = [Buffer.alloc(32, 7).toString('base64')];

/** Gates of the same configuration at several nodes. */
async function gates(
  states: readonly SharedState[],
  clock: () => number = Date.now,
  evil: Evil = { rotates: true },
) {
  const op = evilOp(evil, clock);
  const edges = states.map((shared) =>
    edgeWith(
      { oidc: { issuer: ISSUER, client_id: 'edge', client_secret: SECRET } },
      {
        clock,
        shared,
        login: { sessionKeys: SESSION_KEYS },
        clients: { oidc: createOidcAnswers(op.fetch).ask },
        upstream: () => new Response('the app'),
      },
    ),
  );
  await Promise.all(edges.map((edge, at) => states[at]!.join(edge.runtime.logins)));
  return { op, edges };
}

describe('a login at several nodes', () => {
  it('begins at one and is completed at another, once', async () => {
    const [one, two, three] = nodes(3);
    const { op, edges } = await gates([one!.state, two!.state, three!.state]);
    const begun = browserOf(edges[0]!, 'app.test');
    const at = (index: number) => browserOf(edges[index]!, 'app.test', begun.jar);
    const hop = await begun.go('https://app.test/');
    const callback = op.approve(hop.location!);
    const nonce = await begun.jar.serialize();
    expect((await at(1).go(callback)).status).toBe(302);
    expect((await at(2).go('https://app.test/')).text).toBe('the app');
    const replayed = browserOf(edges[2]!, 'app.test', await CookieJar.deserialize(nonce));
    const refused = await replayed.go(callback);
    expect([refused.status, codeOf(refused, 'oidc')]).toEqual([400, 'oidc.callback_refused']);
    expect(refused.text).toContain('already completed');
  });

  it('refreshes its tokens once, because the provider takes a second use for theft', async () => {
    let nowMs = Date.now();
    const clock = () => nowMs;
    const all = nodes(2, 'local', clock);
    const { op, edges } = await gates(
      all.map(({ state }) => state),
      clock,
    );
    const browser = browserOf(edges[0]!, 'app.test');
    const hop = await browser.go('https://app.test/');
    await browser.go(op.approve(hop.location!));
    const cookie = await browser.jar.getCookieString('https://app.test/');
    const refreshes = () => op.asked.filter((path) => path === '/token').length - 1;
    nowMs += 300_000;
    const ask = async (_: unknown, index: number) =>
      (
        await edges[index % 2]!.handle(
          new Request('https://app.test/x', { headers: { cookie, accept: 'application/json' } }),
        )
      ).response.status;
    expect(new Set(await Promise.all(Array.from({ length: 20 }, ask)))).toEqual(new Set([200]));
    expect(refreshes()).toBe(1);
    nowMs += 20_000;
    // Both take what one of them has asked.
    expect([await ask(0, 0), await ask(0, 1)]).toEqual([200, 200]);
    expect(refreshes()).toBe(1);
  });

  it('is refused at all of them while the provider cannot be asked, and passes after the outage', async () => {
    let nowMs = Date.now();
    const clock = () => nowMs;
    const evil: { rotates: true; silent?: string } = { rotates: true };
    const { op, edges } = await gates(
      nodes(2, 'local', clock).map(({ state }) => state),
      clock,
      evil,
    );
    const browser = browserOf(edges[0]!, 'app.test');
    const hop = await browser.go('https://app.test/');
    await browser.go(op.approve(hop.location!));
    const headers = {
      cookie: await browser.jar.getCookieString('https://app.test/'),
      accept: 'application/json',
    };
    const ask = async (index: number) =>
      (await edges[index]!.handle(new Request('https://app.test/x', { headers }))).response.status;
    evil.silent = '/token';
    nowMs += 300_000;
    for (const afterMs of [0, 0, 1_000, 14_000, 60_000]) {
      nowMs += afterMs;
      expect([await ask(0), await ask(1), await ask(0)]).toEqual([502, 502, 502]);
    }
    // While one node asks again, the other refuses: it does not pass the session.
    expect(await Promise.all([ask(0), ask(1)])).toEqual([502, 502]);
    delete evil.silent;
    expect([await ask(1), await ask(0)]).toEqual([200, 200]);
  });

  it('is refused where a failed check can be marked, but its failures cannot be found', async () => {
    let nowMs = Date.now();
    const clock = () => nowMs;
    const evil: { rotates: true; silent?: string } = { rotates: true };
    let finds = true;
    const states = nodes(2, 'allow', clock).map(({ state }): SharedState => ({
      join: state.join,
      close: state.close,
      ask: (request) =>
        request.do === 'find' && !finds
          ? { unavailable: 'allow', detail: 'no answer in time' }
          : state.ask(request),
    }));
    const { op, edges } = await gates(states, clock, evil);
    const browser = browserOf(edges[0]!, 'app.test');
    const hop = await browser.go('https://app.test/');
    await browser.go(op.approve(hop.location!));
    const cookie = await browser.jar.getCookieString('https://app.test/');
    const ask = async (index: number) => {
      const request = new Request('https://app.test/x', { headers: { cookie, accept: 'application/json' } });
      return (await edges[index]!.handle(request)).response.status;
    };
    evil.silent = '/token';
    nowMs += 300_000;
    finds = false;
    expect([await ask(0), await ask(1), await ask(0)]).toEqual([502, 502, 502]);
    delete evil.silent;
    nowMs += 15_000;
    expect(await ask(1)).toBe(200);
  });

  it('is refused while it cannot be checked whether it was completed before, and can be repeated', async () => {
    for (const policy of ['local', 'deny', 'allow'] as const) {
      const [node] = nodes(1, policy);
      const { op, edges } = await gates([node!.state]);
      const browser = browserOf(edges[0]!, 'app.test');
      const hop = await browser.go('https://app.test/');
      await node!.hold(true);
      const refused = await browser.go(op.approve(hop.location!));
      expect([refused.status, codeOf(refused, 'oidc')]).toEqual([502, 'oidc.provider_failed']);
      expect(refused.text).toContain('cannot be completed now');
      await node!.hold(false);
      const again = await browser.go('https://app.test/');
      await browser.go(op.approve(again.location!));
      expect((await browser.go('https://app.test/')).text).toBe('the app');
    }
  });

  it('ends at all nodes when its logout is answered, and at nodes that start later', async () => {
    const hub = stateHub(Date.now);
    const three = [nodeOf(hub), nodeOf(hub), nodeOf(hub)];
    for (const { cut } of three) cutting.push(cut);
    const { op, edges } = await gates(three.map(({ state }) => state));
    const browser = browserOf(edges[0]!, 'app.test');
    const hop = await browser.go('https://app.test/');
    await browser.go(op.approve(hop.location!));
    const cookie = await browser.jar.getCookieString('https://app.test/');
    const headers = { cookie, accept: 'application/json' };
    const statusAt = async (edge: (typeof edges)[number]) =>
      (await edge.handle(new Request('https://app.test/', { headers }))).response.status;
    expect(await Promise.all(edges.map(statusAt))).toEqual([200, 200, 200]);
    await browser.go('https://app.test/auth/logout');
    await expect.poll(() => Promise.all(edges.map(statusAt))).toEqual([401, 401, 401]);
    const late = nodeOf(hub);
    cutting.push(late.cut);
    const after = await gates([late.state]);
    expect(await statusAt(after.edges[0]!)).toBe(401);
  });
});

const CAPACITY = 10;

function limited(shared: SharedState, enforce = true, options: EdgeOptions = {}) {
  const config = {
    name: 'n',
    algorithm: 'sliding_window',
    capacity: CAPACITY,
    rate: '60s',
    bucket_key: ['req.url.path'],
    enforce,
  };
  const value = JSON.stringify({ on_http_request: [{ actions: [{ type: 'rate-limit', config }] }] });
  return createEdge(
    {
      backends: { web: { static: { address: '127.0.0.1:9' } } },
      edges: {
        https: {
          app: {
            hostports: ['app.test:443'],
            routes: [
              {
                match: '/',
                match_type: 'path_prefix',
                traffic_policy: { value },
                backend: { backend_id: 'web' },
              },
            ],
          },
        },
      },
    },
    { shared, upstream: () => new Response('ok'), ...options },
  );
}

type LimitedEdge = ReturnType<typeof limited>;

async function statuses(edge: LimitedEdge, count: number, path = '/'): Promise<readonly number[]> {
  const all: number[] = [];
  for (let at = 0; at < count; at++)
    all.push((await edge.handle(new Request(`https://app.test${path}`))).response.status);
  return all;
}

function admitted(all: readonly number[]): number {
  return all.filter((status) => status === 200).length;
}

describe('a limit at several nodes', () => {
  it('is one limit, and an edit of the policy begins it again at all of them', async () => {
    const edges = nodes(4).map(({ state }) => limited(state));
    const all = await Promise.all(edges.map((edge) => statuses(edge, 8)));
    expect(admitted(all.flat())).toBe(CAPACITY);
    expect(admitted(await statuses(edges[0]!, 3, '/other'))).toBe(3);
  });

  it.each([
    ['local', [...Array<number>(CAPACITY).fill(200), 429]],
    ['allow', Array<number>(CAPACITY + 1).fill(200)],
    ['deny', Array<number>(CAPACITY + 1).fill(503)],
  ] as const)('is %s while the state is silent, and when it is gone', async (policy, expected) => {
    const [node] = nodes(1, policy);
    const edge = limited(node!.state);
    await node!.hold(true);
    expect(await statuses(edge, CAPACITY + 1)).toEqual(expected);
    await node!.hold(false);
    expect(await statuses(edge, 1, '/again')).toEqual([200]);
    node!.cut();
    await expect.poll(() => node!.state.ask({ do: 'find', id: 'x' }) instanceof Promise).toBe(false);
    expect((await statuses(edge, CAPACITY + 1, '/gone')).slice(0, CAPACITY)).toEqual(
      expected.slice(0, CAPACITY),
    );
  });

  it('takes an answer that arrived while its own process was stalled', async () => {
    const stalledMs = 100;
    const hub = stateHub(() => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stalledMs);
      return 0;
    });
    const { state, cut } = nodeOf(hub, 'local', stalledMs / 2);
    cutting.push(cut);
    const limit = { do: 'take', limit: 'l', key: 'k', capacity: 1, windowMs: 60_000 } as const;
    expect(await state.ask(limit)).toEqual({ waitMs: 0 });
  });

  it('that only reports lets requests pass in any case', async () => {
    const [node] = nodes(1, 'deny');
    await node!.hold(true);
    const edge = limited(node!.state, false);
    const { response, trace } = await edge.handle(new Request('https://app.test/'));
    expect(response.status).toBe(200);
    expect(JSON.stringify(trace)).toContain('rate_limit.unavailable');
  });
});
