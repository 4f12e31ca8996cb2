import * as fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { coverageOf, coveredEdge } from '../../src/coverage/coverage.ts';
import { edgeFixture } from '../../src/coverage/edge_fixture.ts';
import { positionAt, linesOf } from '../../src/diagnostics/lines.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import { createSimulator } from '../../src/simulator/create_simulator.ts';
import { checkScenario } from '../../src/simulator/document/check.ts';
import { ONCE, runFile } from '../../src/simulator/run_file.ts';
import { compileSimulation, simulate } from '../../src/simulator/simulation.ts';
import { sized } from '../random.ts';
import { failed, runOn } from './scenario.ts';

const { config } = createEdge({
  backends: { shop: { tunnel_group: { labels: { app: 'shop' } } } },
  edges: {
    https: {
      shop: {
        hostports: ['shop.test:443'],
        routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'shop' } }],
      },
    },
  },
});

/** Findings of a file with these lines under `agents`, as `line:column code message`. */
function findings(...agents: readonly string[]): string[] {
  const cases = 'cases: [{ name: x, request: GET /, expect: { status: 503 } }]';
  const text = ['edge: e', cases, 'agents:', ...agents.map((line) => `  ${line}`), ''].join('\n');
  const { diagnostics } = runFile(
    checkScenario({ name: 'x.yaml', text }),
    edgeFixture(config, () => null),
    ONCE,
  );
  return diagnostics.map(({ code, message, hint, span, notes = [] }) => {
    const { line, column } = positionAt(linesOf(text), span!.start);
    return [`${line - 3}:${column} ${code} ${message}`, hint, ...notes.slice(0, 2)]
      .filter(Boolean)
      .join('; ');
  });
}

const SHARE = 'agents share a URL if all have `pooling_enabled: true`';

describe('mistakes in endpoints of agents', () => {
  it.each([
    [['a: { url: ftp://x }'], /^1:13 scenario\.bad_agent 'ftp:\/\/x' is not the URL of an endpoint/],
    [['a: { url: tcp://x }'], /^1:13 scenario\.bad_agent 'tcp:\/\/x' needs a port/],
    [['a: { url: https://x:8443 }'], /^1:13 scenario\.bad_agent an endpoint of https has the port 443/],
    [['a: { url: https://-x }'], /^1:13 scenario\.refused_bind .*edge\.bad_hostport/],
    [
      ['a: { url: https://x, polling_enabled: true }'],
      /^1:24 scenario\.unknown_key .*did you mean 'pooling_enabled'/,
    ],
    [['a: { url: https://x, labels: { app: shop } }'], /^1:8 scenario\.bad_agent .* labels and a URL/],
    [['a: { labels: { app: shop }, compression: true }'], /^1:31 scenario\.bad_agent agent 'a' has no URL/],
    [
      ['a: { url: tcp://x:1, compression: true }'],
      /^1:24 scenario\.bad_agent an endpoint of tcp has no option/,
    ],
    [
      ['a: { url: https://x, crt: x }'],
      /^1:24 scenario\.bad_agent an endpoint of https has no option 'crt'; it is for tls/,
    ],
    [['a: {}'], /^1:3 scenario\.bad_agent agent 'a' has neither labels nor a URL/],
    [
      ['a: { url: https://x, deny_user_agent: ["("] }'],
      /^1:41 scenario\.refused_bind agent 'a' cannot bind https:\/\/x: edge\.bad_pattern/,
    ],
    [
      ['a: { url: https://x, ip_restriction_deny_cidrs: [10.0.0.0/99] }'],
      /^1:51 .*edge\.bad_cidr.*did you mean '10\.0\.0\.0\/32'/,
    ],
    [['a: { url: https://x, oauth_provider: foo }'], /^1:40 .*edge\.unknown_key/],
    [['a: { url: https://x, circuit_breaker: 7 }'], /^1:41 .*edge\.out_of_range/],
    [['a: { url: https://x, basic_auth: ["a:${b}"] }'], /^1:\d+ .*must not contain/],
    [['a: { url: https://shop.test }'], /^1:13 scenario\.refused_bind .*'shop' has it/],
    [
      ['a: { url: https://x, traffic_policy: { on_http_request: [{ actions: [{ type: denyy }] }] } }'],
      /^1:\d+ scenario\.refused_bind .*ERR_SERVICE_2201 unknown action 'denyy'; did you mean 'deny'/,
    ],
  ])('%j', (agents, said) => {
    expect(findings(...agents)).toEqual(expect.arrayContaining([expect.stringMatching(said)]));
  });

  it('a policy is located inside of its text, and inside of its map', () => {
    const policy = '{"on_http_request":[{"actions":[{"type":"denyy"}]}]}';
    const [asText] = findings(`a: { url: https://x, traffic_policy: '${policy}' }`);
    const [asMap] = findings(`a: { url: https://x, traffic_policy: ${policy} }`);
    const columns = [asText, asMap].map((each) => Number(/^1:(\d+) /.exec(each!)![1]));
    const column = `  a: { url: https://x, traffic_policy: ${policy}`.indexOf('"denyy"') + 1;
    expect(columns).toEqual([column + 1, column]);
  });

  it('a URL is taken, unless all agents share it with what they may differ in', () => {
    const url = 'url: https://a.test';
    expect(findings(`a: { ${url} }`, `b: { ${url}, pooling_enabled: true }`)).toEqual([
      `2:13 scenario.refused_bind agent 'b' cannot bind https://a.test: The endpoint 'https://a.test' is already online and is not pooled.; agent 'a' has it; ${SHARE}`,
    ]);
    const pooled = `${url}, pooling_enabled: true`;
    expect(findings(`a: { ${pooled} }`, `b: { ${pooled}, compression: true }`)).toEqual([]);
    expect(findings(`a: { ${pooled} }`, `b: { url: http://a.test, pooling_enabled: true }`)).toHaveLength(1);
    expect(findings(`a: { ${url}, online: false }`, `b: { ${url} }`)).toEqual([]);
  });

  it('is found at the step where the URL is taken', () => {
    const value = {
      agents: { a: { url: 'https://a.test', online: false }, b: { url: 'https://a.test' } },
      cases: [
        {
          name: 'x',
          timeline: [
            { send: 'GET /', expect: { status: 503 } },
            { at: '1s', agents: { a: { online: true } } },
          ],
        },
      ],
    };
    const { diagnostics } = runOn(config, value);
    expect(diagnostics).toMatchObject([
      {
        code: 'scenario.refused_bind',
        pointer: '/cases/0/timeline/1/agents/a/url',
        notes: ["agent 'b' has it", SHARE],
      },
    ]);
  });
});

describe('endpoints of agents in scenarios', () => {
  it('the example of the documentation passes, repeatedly and under coverage', () => {
    const text = readFileSync('fixtures/scenarios/endpoints.scenario.yaml', 'utf8');
    const checked = checkScenario({ name: 'x.yaml', text });
    const edge = checkWholeEdge({ value: checked.scenario!.shell.edge });
    const fixture = edgeFixture(edge.config!, edge.locate);
    const covered = coveredEdge(fixture);
    // The state of one run must not reach the next one.
    for (const under of [fixture, fixture, covered.edge, fixture.traced()]) {
      const result = runFile(checked, under, ONCE);
      expect([result.diagnostics, failed(result), result.cases.length]).toEqual([[], [], 5]);
    }
    expect(coverageOf(covered).tallies.find(({ kind }) => kind === 'rules')).toMatchObject({ covered: 1 });
  });

  it('a failed case is explained with the steps of the endpoint, and made smaller', () => {
    const value = {
      agents: { a: { url: 'https://a.test', deny_user_agent: ['bad'] } },
      cases: [
        {
          name: 'x',
          timeline: [
            { at: '1s', send: 'GET https://a.test/' },
            {
              at: '2s',
              send: { url: 'https://a.test/', headers: { 'user-agent': 'bad' } },
              expect: { status: 200 },
            },
          ],
        },
      ],
    };
    const [result] = runOn(config, value).cases;
    expect(result).toMatchObject({
      status: 'failed',
      explained: { decidedBy: { code: 'user_agent_filter.denied' } },
    });
    expect(result!.shrunk).not.toContain('1s');
  });

  it('are members of simulations, and are set in programs', () => {
    const url = 'https://a.test';
    const value = {
      edge: 'given',
      agents: { a: { url, pooling_enabled: true }, b: { url, pooling_enabled: true } },
      simulation: {
        duration: '30s',
        arrivals: [{ request: `GET ${url}/`, rate: 20, model: 'constant' }],
        changes: [
          { at: '10s', agents: { b: { online: false } } },
          { at: '20s', agents: { a: { online: false } } },
        ],
      },
    };
    const checked = checkScenario({ value, name: 'x.ts' });
    const { shell } = checked.scenario!;
    const compiled = compileSimulation({ checked, shell, edge: config, signer: null, seed: null }, [])!;
    const { agents, statuses } = simulate(
      compiled,
      edgeFixture(config, () => null),
      () => undefined,
    );
    expect([agents.get('a')! + agents.get('b')!, statuses.get('404')]).toEqual([400, 200]);
    const simulator = createSimulator({ config });
    expect(simulator.send('GET https://a.test/').status).toBe(404);
    simulator.agent('a', { url, upstream: 201 });
    expect(simulator.send('GET https://a.test/')).toMatchObject({ status: 201, agent: 'a', backend: 'ep_a' });
    expect(() => simulator.agent('b', { url })).toThrow('already online');
    simulator.agent('a', { basic_auth: ['user:password123'] });
    expect(simulator.send('GET https://a.test/').status).toBe(401);
    simulator.agent('a', { online: false });
    expect(simulator.send('GET https://a.test/').status).toBe(404);
  });

  it('whatever agents bind, an endpoint is reached exactly while one of its agents is online', () => {
    const names = ['a', 'b', 'c'];
    const url = fc.constantFrom('https://x.test', 'https://*.x.test', 'https://a.x.test', 'tcp://x.test:1');
    const step = fc.record({
      name: fc.constantFrom(...names),
      url,
      pooling: fc.boolean(),
      online: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const simulator = createSimulator({ config });
        /** A naive model: who has which URL. */
        const online = new Map<string, { url: string; pooling: boolean }>();
        for (const { name, url: at, pooling, online: isOnline } of steps) {
          const others = [...online].filter(([other, has]) => other !== name && has.url === at);
          const refused = isOnline && others.some(([, has]) => !(has.pooling && pooling));
          const set = () => simulator.agent(name, { url: at, pooling_enabled: pooling, online: isOnline });
          if (refused) {
            expect(set).toThrow('already online');
            continue;
          }
          set();
          online.delete(name);
          if (isOnline) online.set(name, { url: at, pooling });
          for (const host of ['x.test', 'a.x.test', 'b.x.test']) {
            const has = (wanted: string) => [...online].filter(([, each]) => each.url === wanted);
            const exact = has(`https://${host}`);
            const wild = host === 'x.test' ? [] : has('https://*.x.test');
            const possible = (exact.length > 0 ? exact : wild).map(([each]) => each);
            const { status, agent } = simulator.send(`GET https://${host}/`);
            expect([status, possible.length === 0 ? agent : possible.includes(agent!)]).toEqual(
              possible.length === 0 ? [404, null] : [200, true],
            );
          }
        }
      }),
      sized(60),
    );
  });
});
