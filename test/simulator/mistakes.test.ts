import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkScenario } from '../../src/simulator/document/check.ts';
import { runText, runValue } from './scenario.ts';
import { sized } from '../random.ts';

const ok = { name: 'a', request: '/', expect: { status: 200 } };
const expecting = (wanted: object) => ({ cases: [{ ...ok, expect: wanted }] });
const sending = (request: unknown) => ({ cases: [{ ...ok, request }] });

type Mistake = readonly [value: object, pointer: string, message: RegExp, hint?: string];
// table: a mistake, its place, the message, and the suggestion
const MISTAKES: readonly Mistake[] = [
  [expecting({ status: 'abc' }), '/cases/0/expect/status', /'abc' is not a status/],
  [
    expecting({ status: { equals: 200, not: 200 } }),
    '/cases/0/expect/status/equals',
    /200 contradicts not 200/,
  ],
  [expecting({ status: { one_of: [1, 2], at_least: 3 } }), '/cases/0/expect/status/one_of', /contradicts/],
  [
    expecting({ status: { at_least: 5, at_most: 4 } }),
    '/cases/0/expect/status/at_most',
    /no number is at least 5/,
  ],
  [
    expecting({ body: { absent: true, contains: 'a' } }),
    '/cases/0/expect/body/absent',
    /has no other conditions/,
  ],
  [expecting({ body: { matches: '(' } }), '/cases/0/expect/body/matches', /missing closing/],
  [expecting({ status: 'none', body: 'x' }), '/cases/0/expect/body', /without a response/],
  [expecting({ duration: 'fast' }), '/cases/0/expect/duration', /not a duration/],
  [expecting({ backend: 'ap' }), '/cases/0/expect/backend', /no backend 'ap'/, "did you mean 'app'?"],
  [expecting({ upstream: 'ap' }), '/cases/0/expect/upstream', /no backend 'ap'/, "did you mean 'app'?"],
  [
    expecting({ upstream: { backend: 'ap' } }),
    '/cases/0/expect/upstream/backend',
    /no backend 'ap'/,
    "did you mean 'app'?",
  ],
  [
    expecting({ because: { module: 'ip_restrction' } }),
    '/cases/0/expect/because/module',
    /unknown module/,
    "did you mean 'ip_restriction'?",
  ],
  [
    expecting({ because: { module: 'ip_restriction', reason: 'denid' } }),
    '/cases/0/expect/because/reason',
    /has no reason/,
    "did you mean 'denied'?",
  ],
  [
    expecting({ because: 'upstream.answerd' }),
    '/cases/0/expect/because',
    /unknown reason code/,
    "did you mean 'upstream.answered'?",
  ],
  [
    expecting({ decisions: { oath: 'allow' } }),
    '/cases/0/expect/decisions/oath',
    /unknown module/,
    "did you mean 'oauth'?",
  ],
  [
    expecting({ decisions: { oauth: 'alow' } }),
    '/cases/0/expect/decisions/oauth',
    /never decides 'alow'/,
    "did you mean 'allow'?",
  ],
  [
    expecting({ event: { 'http.response.status': 200 } }),
    '/cases/0/expect/event/http.response.status',
    /no field/,
    "did you mean 'http.response.status_code'?",
  ],
  [
    { cases: [{ ...ok, expect: 'snapshots' }] },
    '/cases/0/expect',
    /neither a map/,
    "did you mean 'snapshot'?",
  ],
  [sending({ path: '/', ip: '300.1.1.1' }), '/cases/0/request/ip', /'300.1.1.1' is not an IP address/],
  [{ defaults: { request: { ip: 'x' } }, cases: [ok] }, '/defaults/request/ip', /'x' is not an IP address/],
  [sending('get /'), '/cases/0/request', /is not a request/],
  [
    { identities: { alice: {}, bob: {} }, ...sending({ path: '/', as: 'alise' }) },
    '/cases/0/request/as',
    /unknown identity 'alise'/,
    "did you mean 'alice'?",
  ],
  [
    { facts: { 'conn.geo.contry': 'DE' }, cases: [ok] },
    '/facts/conn.geo.contry',
    /.*/,
    "did you mean 'country'?",
  ],
  [
    { cases: [{ name: 'a', sample: { share: { ap: 1 } } }] },
    '/cases/0/sample/share/ap',
    /no backend 'ap'/,
    "did you mean 'app'?",
  ],
  [
    { cases: [{ name: 'a', timeline: [{ send: { path: '/', count: 1e11 }, expect: { status: 200 } }] }] },
    '/cases/0/timeline/0/send/count',
    /has to be from 1 to 10000000/,
  ],
  [{ cases: [{ ...ok, eahc: [] }] }, '/cases/0/eahc', /unknown key/, "did you mean 'each'?"],
  [
    { cases: [{ name: 'a', curl: 'curl -d @file https://a.test/', expect: { status: 200 } }] },
    '/cases/0/curl',
    /reads a file/,
  ],
  [
    { cases: [{ name: 'a', curl: 'curl https://a.test/ -H', expect: { status: 200 } }] },
    '/cases/0/curl',
    /-H needs a value/,
  ],
];

describe('a mistake', () => {
  it.each(MISTAKES.map((mistake) => ({ mistake, at: mistake[1] })))('at $at: $mistake.0', ({ mistake }) => {
    const [value, pointer, message, hint] = mistake;
    const found = runValue(value).diagnostics.filter(({ severity }) => severity === 'error');
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ pointer, message: expect.stringMatching(message) as string });
    if (hint !== undefined) expect(found[0]!.hint).toBe(hint);
  });
});

/** Everything that a scenario file can contain, except for names that the user chooses. */
const WHOLE = {
  version: 1,
  clock: '2026-01-01T00:00:00Z',
  seed: 1,
  defaults: { request: { host: 'shop.test', scheme: 'https' }, upstream_timeout: '5s', tags: ['a'] },
  coverage: { rules: 10, mcdc: 20 },
  client_certificate: { serial_number: '1', subject_cn: 'x' },
  simulation: {
    duration: '1s',
    arrivals: [{ request: '/', rate: 1, model: 'constant', from: '0s', until: '1s' }],
    changes: [{ at: '0s', upstreams: {} }],
  },
  cases: [
    {
      name: 'a',
      tags: ['b'],
      skip: false,
      request: { method: 'GET', path: '/', body: 'x', leaves_after: '1s', headers: {} },
      expect: {
        status: { one_of: [200], not: 500, at_least: 100, at_most: 599 },
        headers: {},
        body: {
          contains: 'x',
          not_contains: 'y',
          matches: 'x',
          not_matches: 'y',
          starts_with: 'x',
          ends_with: 'x',
        },
        upstream: { backend: 'app', method: 'GET', path: '/', attempts: 1, body: 'x', query: 'absent' },
        because: { phase: 'upstream', module: 'upstream', verdict: 'pass', code: 'upstream.answered' },
        duration: 0,
        logs: 0,
        backend: 'app',
      },
    },
    {
      name: 'b',
      timeline: [
        { at: '0s', advance: '1s', send: { path: '/', count: 1, every: '1s' }, expect: { counts: {} } },
      ],
    },
    { name: 'c', sample: { request: '/', by: 'backend', share: {}, method: 'exact', runs: 1, within: 0.1 } },
    {
      name: 'd',
      connect: { to: 'tcp://a.test:1', sends: 1, receives: 1, server_name: 'x', tls_version: '1.3' },
    },
    {
      name: 'e',
      raw: 'GET / HTTP/1.1',
      upstreams: { app: { status: 200, latency: '1ms', fault: 'hang', body: '' } },
    },
  ],
};

/** Pointers of all keys in a value. */
function keysOf(value: unknown, pointer = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const at = `${pointer}/${key}`;
    const inside = keysOf(inner, at);
    return Array.isArray(value) ? inside : inside.concat(at);
  });
}

/** A copy with a misspelt key at a pointer. */
function renamed(value: unknown, pointer: string, to: string): unknown {
  const [, key = '', ...rest] = pointer.split('/');
  if (Array.isArray(value))
    return value.map((each: unknown, index) =>
      String(index) === key ? renamed(each, `/${rest.join('/')}`, to) : each,
    );
  return Object.fromEntries(
    Object.entries(value as object).map(([name, inner]) => {
      if (name !== key) return [name, inner];
      return rest.length === 0 ? [to, inner] : [name, renamed(inner, `/${rest.join('/')}`, to)];
    }),
  );
}

const KEYS = keysOf(WHOLE).filter((pointer) => !pointer.endsWith('/upstreams/app'));

describe('a key that is misspelt', () => {
  it('is listed here, for every key', () => expect(KEYS.length).toBeGreaterThan(80));

  it.each(KEYS)('%s is reported at its place, with the right spelling', (pointer) => {
    const key = pointer.slice(pointer.lastIndexOf('/') + 1);
    const typo = `${key.slice(0, -1)}${key.length > 3 ? '' : key.at(-1)!}q`;
    const text = JSON.stringify({ edge: 'e', ...(renamed(WHOLE, pointer, typo) as object) }, null, 1);
    const { diagnostics } = checkScenario({ name: 'x.json', text });
    const at = `${pointer.slice(0, pointer.lastIndexOf('/'))}/${typo}`;
    const found = diagnostics.find((each) => each.pointer === at);
    expect(found?.code).toBe('scenario.unknown_key');
    expect(text.slice(found!.span!.start, found!.span!.end)).toContain(typo);
    if (key.length > 2) expect(found!.hint).toBe(`did you mean '${key}'?`);
  });
});

describe('any scenario', () => {
  const junk = fc.oneof(
    fc.constantFrom(null, true, -1, 1e300, '', '{x}', 'snapshot', 'GET /', '☃', '2xx', []),
    fc.dictionary(fc.constantFrom('status', 'each', 'x', 'send', '__proto__', 'equals'), fc.jsonValue()),
    fc.jsonValue(),
  );

  it('is checked and run without throwing, whatever it contains', () => {
    fc.assert(
      fc.property(fc.constantFrom(...keysOf(WHOLE)), junk, (pointer, value) => {
        const { simulation: _left, ...file } = WHOLE;
        const changed = withValue(file, pointer, value);
        expect(() => runText(JSON.stringify({ edge: 'e', ...(changed as object) }))).not.toThrow();
      }),
      sized(400, 1),
    );
  });
});

/** A copy with another value at a pointer. */
function withValue(value: unknown, pointer: string, to: unknown): unknown {
  const [, key = '', ...rest] = pointer.split('/');
  if (typeof value !== 'object' || value === null) return value;
  const next = (inner: unknown) => (rest.length === 0 ? to : withValue(inner, `/${rest.join('/')}`, to));
  if (Array.isArray(value))
    return value.map((each: unknown, index) => (String(index) === key ? next(each) : each));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, name === key ? next(inner) : inner]),
  );
}
