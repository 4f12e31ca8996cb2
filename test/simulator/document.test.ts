import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readCurl } from '../../src/simulator/document/curl.ts';
import { SCENARIO_CODES } from '../../src/simulator/document/codes.ts';
import { durationMs, timeMs } from '../../src/simulator/document/durations.ts';
import { scenarioJsonSchema } from '../../src/simulator/document/schema.ts';
import { failed, runText, runValue } from './scenario.ts';

const ok = { name: 'a', request: '/', expect: { status: 200 } };
const one = (change: object) => ({ cases: [{ ...ok, ...change }] });

// table: a scenario for each finding
const FINDINGS: readonly (readonly [keyof typeof SCENARIO_CODES, object])[] = [
  ['scenario.no_edge', { edge: undefined, cases: [ok] }],
  ['scenario.no_edge', { policy: {}, cases: [ok] }],
  ['scenario.no_request', one({ request: undefined })],
  ['scenario.no_request', {}],
  ['scenario.several_requests', one({ curl: 'curl https://shop.test/' })],
  ['scenario.no_expectation', one({ expect: undefined })],
  ['scenario.no_expectation', one({ expect: {} })],
  ['scenario.no_expectation', one({ request: undefined, expect: undefined, timeline: [{ send: '/' }] })],
  [
    'scenario.bad_expectation',
    one({ request: undefined, timeline: [{ send: '/', expect: { status: 200 } }] }),
  ],
  ['scenario.duplicate_name', { cases: [ok, ok] }],
  ['scenario.empty_table', one({ each: { x: [] } })],
  [
    'scenario.unknown_identity',
    { identities: { alice: {} }, ...one({ request: { path: '/', as: 'alise' } }) },
  ],
  ['scenario.unknown_placeholder', one({ name: '{X_A}', each: { x_a: [1] } })],
  ['scenario.unused_identity', { identities: { alice: {} }, cases: [ok] }],
  [
    'scenario.bad_identity',
    { identities: { alice: { mail: 'a@x.test' } }, ...one({ request: { path: '/', as: 'alice' } }) },
  ],
  ['scenario.unknown_backend', one({ upstreams: { ap: 200 } })],
  ['scenario.unknown_backend', one({ expect: { upstream: 'ap' } })],
  ['scenario.unknown_agent', one({ expect: { agent: 'laptop' } })],
  ['scenario.bad_agent', one({ agents: { laptop: {} } })],
  ['scenario.bad_nodes', one({ request: { path: '/', node: 2 } })],
  ['scenario.refused_bind', one({ agents: { laptop: { url: 'https://shop.test' } } })],
  ['scenario.unselected_agent', one({ agents: { laptop: { labels: { app: 'shop' } } } })],
  ['scenario.unknown_module', one({ expect: { decisions: { ip_restrictions: 'allow' } } })],
  ['scenario.bad_request', one({ request: { url: 'ftp://shop.test/' } })],
  ['scenario.bad_request', one({ request: undefined, curl: 'curl --proxy x https://shop.test/' })],
  ['scenario.bad_time', one({ clock: 'today' })],
  ['scenario.bad_answer', one({ upstreams: { app: 'hung' } })],
  ['scenario.bad_answer', one({ upstreams: { app: { sequence: [{ statu: 1 }] } } })],
  ['scenario.bad_expectation', one({ expect: { body: { matches: '(?=x)' } } })],
  ['scenario.bad_share', one({ request: undefined, expect: undefined, sample: { share: { app: 1.5 } } })],
  ['scenario.bad_facts', one({ facts: { 'conn.geo.countri': 'DE' } })],
  ['scenario.bad_include', { include: 'gone.yaml', cases: [ok] }],
  ['scenario.bad_table', one({ each: 'gone.csv' })],
  ['scenario.unused_upstream', { upstreams: { next: 200 }, ...one({ request: '/healthz' }) }],
];

describe('a scenario file', () => {
  it.each(FINDINGS)('%s is found', (code, value) => {
    expect(runValue(value).diagnostics.map((each) => each.code)).toContain(code);
  });

  it('reaches every code', () => {
    const reached = new Set<keyof typeof SCENARIO_CODES>(FINDINGS.map(([code]) => code));
    // The reader of files reports unreadable files: test/cli.
    reached.add('scenario.unreadable');
    // Simulations and chance have their own tests.
    reached.add('scenario.bad_arrivals');
    reached.add('scenario.change_after_end');
    reached.add('scenario.by_chance');
    expect(
      Object.keys(SCENARIO_CODES).filter((code) => !reached.has(code as keyof typeof SCENARIO_CODES)),
    ).toEqual([]);
  });

  it('reports unknown keys, in rows of a table once', () => {
    const text = `edge: e\ncases:\n  - name: a {x}\n    each: { x: [1, 2] }\n    request: /\n    expect: { statsu: '{x}' }\n`;
    const { diagnostics } = runText(text);
    expect(diagnostics).toHaveLength(1);
    expect(diagnostics[0]).toMatchObject({ code: 'scenario.unknown_key', hint: "did you mean 'status'?" });
    expect(text.slice(diagnostics[0]!.span!.start, diagnostics[0]!.span!.end)).toBe('statsu');
  });

  it.each([
    ['{pth}', '- { path: a }', "there is no value 'pth', so '{pth}' stays as it is"],
    ['{path}', '- { path: a }\n      - { ip: 192.0.2.1 }', "row 2 has no 'path', so '{path}' stays as it is"],
    ['{id}', '- { path: a }', undefined],
    ['{path}', '- { path: a }', undefined],
    ['{token}', '- { taken: a }', undefined],
  ])('reports that nothing fills in %s in a table of %s', (place, rows, message) => {
    const text = `edge: e\nvariables: { host: shop.test }\ncases:\n  - name: a\n    each:\n      ${rows}\n    timeline:\n      - { send: /, capture: { token: { header: date } }, expect: { status: 200 } }\n      - { send: '/{host}/${place}', expect: { status: 404 } }\n`;
    const [found, ...others] = runText(text).diagnostics;
    expect(others).toEqual([]);
    expect(found?.message).toBe(message);
    if (found !== undefined) expect(text.slice(found.span!.start, found.span!.end)).toBe(place);
  });

  it('reads JSON as it reads YAML, including duplicate keys', () => {
    expect(
      runText('{"edge":"e","cases":[{"name":"a","name":"b","request":"/","expect":{"status":200}}]}')
        .diagnostics[0],
    ).toMatchObject({ code: 'scenario.duplicate_key' });
    expect(
      runText('{"edge":"e","cases":[{"name":"a \\":{","request":"/healthz","expect":{"status":200}}]}')
        .cases[0]!.status,
    ).toBe('passed');
  });

  it('has a generated schema that is up to date', () => {
    const path = new URL('../../src/simulator/document/scenario.schema.json', import.meta.url);
    expect(readFileSync(path, 'utf8')).toBe(`${JSON.stringify(scenarioJsonSchema(), null, 2)}\n`);
  });
});

describe('requests and responses', () => {
  it.each([
    ['curl https://shop.test/a?b', { method: 'GET', url: 'https://shop.test/a?b', body: null }],
    [
      `curl -XPUT -d 'a b' -H "X-A: \\"q\\"" https://x/`,
      {
        method: 'PUT',
        body: 'a b',
        headers: [
          ['X-A', '"q"'],
          ['content-type', 'application/x-www-form-urlencoded'],
        ],
      },
    ],
    [`curl --json '{"a":1}' \\\n  --url=x.test`, { method: 'POST', url: 'http://x.test', body: '{"a":1}' }],
    [
      'curl -G -d a=1 -d b=2 -u me:pw https://x/',
      { method: 'GET', url: 'https://x/?a=1&b=2', headers: [['authorization', 'Basic bWU6cHc=']] },
    ],
    ['curl -I https://x/', { method: 'HEAD' }],
    ["curl 'https://x/", { problem: 'a quote is not closed' }],
    ['curl -s', { problem: 'there is no URL' }],
  ])('reads %j', (line, expected) => {
    expect(readCurl(line)).toMatchObject(expected);
  });

  it('reads durations and times', () => {
    expect(['5ms', '2.1s', '1h30m', '1d', '5', 'x'].map((text) => durationMs(text))).toEqual([
      5,
      2_100,
      5_400_000,
      86_400_000,
      Number.NaN,
      Number.NaN,
    ]);
    expect([timeMs('2026-01-01T00:00:00Z'), timeMs('2026-01-01T01:00:00.5+01:00'), timeMs('2026')]).toEqual([
      1_767_225_600_000,
      1_767_225_600_500,
      Number.NaN,
    ]);
  });

  it('plays sequences, and starts each case afresh', () => {
    const app = {
      latency: '1ms',
      sequence: [500, { status: 201, body: 'x' }, 'refuse'],
      afterwards: 'again',
    };
    const steps = [500, 201, 502, 500].map((status) => ({
      advance: '1s',
      send: '/admin',
      expect: { status },
    }));
    const request = { headers: { 'user-agent': 'curl/8' } };
    const cases = ['a', 'b'].map((name) => ({
      name,
      timeline: steps,
    }));
    expect(failed(runValue({ defaults: { request }, upstreams: { app }, cases }))).toEqual([]);
  });

  it('lets clients leave: there is no response, and the breaker counts nothing', () => {
    const request = { path: '/api', leaves_after: '10ms' };
    const expectation = { status: 'none', duration: 10, event: { 'http.response.status_code': 0 } };
    expect(
      failed(runValue({ upstreams: { app: 'hang' }, ...one({ request, expect: expectation }) })),
    ).toEqual([]);
  });
});
