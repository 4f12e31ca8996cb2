import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { edgeFixture } from '../../src/coverage/edge_fixture.ts';
import { Tunnels, tunnelEndpoint } from '../../src/edge/tunnels.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { createSimulator } from '../../src/simulator/create_simulator.ts';
import { checkScenario } from '../../src/simulator/document/check.ts';
import { runFile, ONCE } from '../../src/simulator/run_file.ts';
import { compileSimulation, simulate } from '../../src/simulator/simulation.ts';
import { sized } from '../random.ts';
import { failed, runOn } from './scenario.ts';

const EDGE = {
  backends: {
    shop: { tunnel_group: { labels: { app: 'shop' } } },
    spare: { http_response: { status_code: 200, body: 'spare' } },
    safe: { failover: ['shop', 'spare'] },
    db: { tunnel_group: { labels: { app: 'db', region: 'eu' } } },
  },
  edges: {
    https: {
      shop: {
        hostports: ['shop.test:443'],
        routes: [
          { match_type: 'path_prefix', match: '/', backend: { backend_id: 'shop' } },
          { match_type: 'path_prefix', match: '/safe', backend: { backend_id: 'safe' } },
        ],
      },
    },
    tcp: { db: { hostports: ['1.tcp.test:5432'], backend: { backend_id: 'db' } } },
  },
};
const { config } = createEdge(EDGE);
const SHOP = { labels: { app: 'shop' } };
const DB = { labels: { app: 'db', region: 'eu' } };
const OFFLINE = { online: false };

/** Names of the cases that failed, after the findings. */
function problems(value: object): string[] {
  const result = runOn(config, value);
  return [...result.diagnostics.map(({ code }) => code), ...failed(result)];
}

describe('agents of scenarios', () => {
  it('respond as their backend does, or with a response of their own', () => {
    const value = {
      upstreams: { shop: { body: 'any' } },
      agents: { a: SHOP, b: { ...SHOP, online: false, upstream: { body: 'b' } } },
      cases: [
        { name: 'a', request: 'GET /', expect: { body: 'any', agent: 'a', backend: 'shop' } },
        {
          name: 'b',
          agents: { a: OFFLINE, b: { online: true } },
          request: 'GET /',
          expect: { body: 'b', agent: 'b', because: { module: 'upstream', detail: { tunnel: 'b' } } },
        },
        {
          name: 'spare',
          agents: { a: OFFLINE },
          request: 'GET /safe',
          expect: { body: 'spare', agent: 'none' },
        },
        {
          name: 'none',
          agents: { a: OFFLINE },
          request: 'GET /',
          expect: { status: 503, agent: 'none', upstream: 'none', because: 'backend.offline' },
        },
      ],
    };
    expect(problems(value)).toEqual([]);
  });

  it('fail expectations of other agents', () => {
    const agents = { a: SHOP, b: { ...SHOP, online: false } };
    const named = (agent: string) => ({ name: agent, agents, request: 'GET /', expect: { agent } });
    const { cases } = runOn(config, { cases: [named('a'), named('b'), named('none')] });
    expect(
      cases.map(({ mismatches }) => mismatches.map(({ what, received }) => `${what} ${received}`)),
    ).toEqual([[], ["agent 'a'"], ["agent 'a'"]]);
  });

  it('that are lost end requests in flight: what may be repeated goes to another one', () => {
    const request = (send: object | string, expected: object) => ({
      name: JSON.stringify(send),
      agents: { a: { ...SHOP, upstream: { latency: '5s' } }, b: { ...SHOP, online: false } },
      timeline: [
        { at: '0s', agents: { b: { online: true } } },
        // Whichever is picked first, the other one is in the list.
        { at: '1s', send, expect: expected },
        { at: '2s', agents: { a: OFFLINE } },
      ],
    });
    const repeated = { status: 200, agent: 'b' };
    const cases = ['GET /', { method: 'PUT', path: '/' }].map((send) => request(send, repeated));
    expect(problems({ cases })).toEqual([]);
    const alone = (send: object | string, status: number) => ({
      name: JSON.stringify(send),
      agents: { a: { ...SHOP, upstream: { latency: '5s' } } },
      timeline: [
        { send, expect: { status, agent: 'a', duration: '1s', because: 'upstream.reset' } },
        { at: '1s', agents: { a: OFFLINE, b: SHOP } },
      ],
    });
    const lost = [alone('GET /', 502), alone({ method: 'POST', body: 'x' }, 502), alone({ body: 'x' }, 502)];
    expect(problems({ cases: lost })).toEqual([]);
  });

  it('are tried three times at most; those that have gone since are skipped', () => {
    const slow = { ...SHOP, upstream: { latency: '5s' } };
    const timeline = [
      { send: 'GET /', expect: { status: 502, duration: '1s', upstream: { attempts: 3 } } },
      { at: '1s', agents: { a: OFFLINE, b: OFFLINE, c: OFFLINE, d: OFFLINE } },
    ];
    const agents = { a: slow, b: slow, c: slow, d: slow };
    expect(problems({ cases: [{ name: 'x', agents, timeline }] })).toEqual([]);
  });

  it('respond themselves when they cannot reach their upstream; a broken one is tried elsewhere', () => {
    const cases = [
      {
        name: '502',
        agents: { a: { ...SHOP, upstream: 'refuse' } },
        request: 'GET /',
        expect: { status: 502, because: 'upstream.answered' },
      },
      {
        name: 'no failover',
        agents: { a: { ...SHOP, upstream: 'refuse' } },
        request: 'GET /safe',
        expect: { status: 502 },
      },
      {
        name: 'reset',
        agents: { a: { ...SHOP, upstream: 'reset' }, b: SHOP },
        request: 'GET /',
        expect: { status: 200, agent: 'b' },
      },
      {
        name: 'reset and spare',
        agents: { a: { ...SHOP, upstream: 'reset' } },
        request: 'GET /safe',
        expect: { body: 'spare' },
      },
      {
        name: 'not repeated',
        agents: { a: { ...SHOP, upstream: 'reset' } },
        request: { path: '/safe', method: 'POST' },
        expect: { status: 502, because: 'upstream.reset' },
      },
    ];
    expect(problems({ cases })).toEqual([]);
  });

  it('carry connections, which end with them', () => {
    const cases = [
      {
        name: 'carried',
        agents: { a: DB },
        connect: '1.tcp.test:5432',
        expect: { connection: 'allowed', backend: 'db', agent: 'a' },
      },
      {
        name: 'denied',
        connect: '1.tcp.test:5432',
        expect: { connection: 'denied', because: 'backend.offline' },
      },
      {
        name: 'lost',
        agents: { a: DB },
        timeline: [
          {
            connect: { to: '1.tcp.test:5432', as: 'x', sends: 5 },
            expect: {
              agent: 'a',
              because: 'stream.upstream',
              event: { 'conn.bytes_in': 15, 'conn.end_ts': '2026-01-01T00:00:03.000Z' },
            },
          },
          { at: '2s', transfer: { on: 'x', sends: 10 } },
          { at: '3s', agents: { a: OFFLINE } },
          { at: '4s', transfer: { on: 'x', sends: 10 } },
        ],
      },
    ];
    expect(problems({ cases })).toEqual([]);
  });

  it('are members of simulations', () => {
    const value = {
      edge: 'given',
      agents: { a: SHOP, b: SHOP },
      simulation: {
        duration: '30s',
        arrivals: [{ rate: 20, model: 'constant' }],
        changes: [
          { at: '10s', agents: { b: OFFLINE } },
          { at: '20s', agents: { a: OFFLINE } },
        ],
      },
    };
    const checked = checkScenario({ value, name: 'x.ts' });
    const { shell } = checked.scenario!;
    const compiled = compileSimulation({ checked, shell, edge: config, signer: null, seed: null }, [])!;
    const { agents, statuses, changes } = simulate(
      compiled,
      edgeFixture(config, () => null),
      () => undefined,
    );
    expect([agents.get('a')! + agents.get('b')!, statuses.get('503')]).toEqual([400, 200]);
    expect(agents.get('b')).toBeGreaterThan(70);
    expect(agents.get('b')).toBeLessThan(130);
    expect(changes.map(({ message }) => message)).toEqual(['b: offline', 'a: offline']);
  });

  it('are set in programs', () => {
    const simulator = createSimulator({ config });
    expect(simulator.send('GET /')).toMatchObject({ status: 503, backend: null, agent: null });
    simulator.agent('a', SHOP);
    expect(simulator.send('GET /')).toMatchObject({ status: 200, backend: 'shop', agent: 'a' });
    simulator.agent('a', { online: false });
    expect(simulator.send('GET /').decidedBy.code).toBe('backend.offline');
    expect(() => simulator.agent('b', {})).toThrow('neither labels nor a URL');
  });
});

describe('mistakes', () => {
  const TEXT = `edge: given
agents:
  laptop: { labels: { app: shopp } }
  server: { labels: { app: shop } }
cases:
  - name: one
    agents: { sever: { online: false }, other: {} }
    request: GET /
    expect: { agent: servr }
  - name: two
    upstreams: { spare: 200 }
    sample: { request: GET /, by: agent, share: { laptp: 1 } }
`;

  it('are found at their place, with what was meant', () => {
    const checked = checkScenario({ name: 'x.yaml', text: TEXT });
    const { diagnostics } = runFile(
      checked,
      edgeFixture(config, () => null),
      ONCE,
    );
    const at = (start: number) => {
      const lines = TEXT.slice(0, start).split('\n');
      return `${lines.length}:${lines.at(-1)!.length + 1}`;
    };
    expect(diagnostics.map(({ code, span, hint }) => [code, at(span!.start), hint])).toEqual([
      ['scenario.unselected_agent', '3:21', "did you mean 'app=shop'?"],
      ['scenario.unknown_agent', '7:15', "did you mean 'server'?"],
      ['scenario.bad_agent', '7:41', undefined],
      ['scenario.unknown_agent', '9:22', "did you mean 'server'?"],
      ['scenario.unknown_backend', '11:18', undefined],
      ['scenario.unknown_agent', '12:51', "did you mean 'laptop'?"],
    ]);
  });

  it('in labels are warnings: the cases run', () => {
    const agents = { a: SHOP, odd: { labels: { app: 'else' } } };
    const ran = runOn(config, { cases: [{ name: 'x', agents, request: 'GET /', expect: { agent: 'a' } }] });
    expect([ran.diagnostics.map(({ code }) => code), ran.cases.length]).toEqual([
      ['scenario.unselected_agent'],
      1,
    ]);
  });
});

describe('the tunnels of backends', () => {
  const NAMES = ['app', 'region'];
  const labelled = fc.dictionary(fc.constantFrom(...NAMES), fc.constantFrom('x', 'y'), { maxKeys: 2 });
  const step = fc.record({ id: fc.integer({ min: 0, max: 4 }), labels: fc.option(labelled), ask: labelled });

  it('are those of a list that is filtered each time', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const tunnels = new Tunnels();
        let naive: { id: string; labels: Record<string, string> }[] = [];
        for (const { id, labels, ask } of steps) {
          const name = `t${id}`;
          const online = tunnels.get(name);
          if (online !== undefined) {
            tunnels.remove(online);
            naive = naive.filter((each) => each.id !== name);
          }
          if (labels !== null) {
            const endpoint = tunnelEndpoint(name, { http2: false, proxyProtocol: null });
            tunnels.add({ id: name, labels, endpointId: null, endpoint });
            naive.push({ id: name, labels });
          }
          const wanted = Object.entries(ask);
          const expected = naive.filter((each) => wanted.every(([key, value]) => each.labels[key] === value));
          const found = tunnels.of('group', ask);
          expect(found.map((each) => [each.id, each.tunnel])).toEqual(
            wanted.length === 0 ? [] : expected.map((each) => ['group', each.id]),
          );
          expect(tunnels.of('group', ask)).toBe(found);
        }
      }),
      sized(300),
    );
  });
});
