import { describe, expect, it } from 'vitest';
import { usable } from '../../src/edgeproof.ts';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import { onePolicy } from '../one_route.ts';
import { runOn } from './scenario.ts';

const RULES = [
  {
    name: 'admins',
    expressions: ["req.url.path.startsWith('/admin')"],
    actions: [{ type: 'add-headers', config: { headers: { 'x-admin': 'yes' } } }],
  },
  {
    name: 'ask',
    expressions: ["req.url.path == '/ask'"],
    actions: [
      {
        type: 'http-request',
        config: {
          url: 'https://authz.test/check?user=${req.url.path}',
          method: 'POST',
          headers: { 'x-from': 'edge' },
          body: '{"path":"${req.url.path}"}',
        },
      },
    ],
  },
];
const { config } = usable(checkWholeEdge({ value: onePolicy({ on_http_request: RULES }) }));
const JSON_BODY = { user: { name: 'Ada', roles: ['admin', 'dev'] }, 'a.b': 1, total: 7 };

/** Runs one case; gives its mismatches, or the findings of the file. */
function mismatches(each: object, shell: object = {}): string[] {
  const upstreams = { app: { json: JSON_BODY }, 'https://authz.test': 200 };
  const { cases, diagnostics } = runOn(config, { upstreams, ...shell, cases: [{ name: 'case', ...each }] });
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  return [
    ...errors.map(({ message }) => message),
    ...cases.flatMap((ran) => ran.mismatches.map(({ what, received }) => `${what}: ${received}`)),
  ];
}

const expected = (path: string, expect_: object) => mismatches({ request: path, expect: expect_ });

describe('what did not happen', () => {
  it('is expected with `not_because`', () => {
    expect(expected('/', { not_because: { rule: 'admins' } })).toEqual([]);
    expect(expected('/', { not_because: ['traffic_policy.denied', { rule: 'ask' }] })).toEqual([]);
    expect(expected('/admin', { not_because: { rule: 'admins' } })).toEqual([
      expect.stringMatching(/^not_because: .*rule\.applied/),
    ]);
  });

  it('names rules that exist: any other one never applies', () => {
    expect(expected('/', { not_because: { rule: 'admin' } })).toEqual([
      "no policy of the edge has a rule 'admin'",
    ]);
    expect(expected('/', { not_because: 'traffic_policy.denid' })[0]).toContain('unknown reason code');
  });
});

describe('`json`', () => {
  it('takes paths', () => {
    const paths = {
      '$.user.name': 'Ada',
      '$.user.roles[0]': { starts_with: 'ad' },
      '$.user.roles[2]': 'absent',
      "$['a.b']": 1,
      '$.total': { at_least: 5, at_most: 9 },
    };
    expect(expected('/', { json: paths })).toEqual([]);
    expect(expected('/', { json: { '$.user.roles[1]': 'ops' } })).toEqual(["json.$.user.roles[1]: 'dev'"]);
    expect(expected('/', { json: { '$.user..name': 'x' } })).toEqual([
      "'$.user..name' is not a path such as $.a.b[0]",
    ]);
    expect(expected('/', { json: { user: { name: 'Ada' } } })).toEqual([]);
  });
});

describe('`expressions`', () => {
  it('are those of policies, on the request and its response', () => {
    const good = [
      "res.status_code == 200 && req.url.path == '/a'",
      "getResHeader('content-type')[0].startsWith('application/json')",
    ];
    expect(expected('/a', { expressions: good })).toEqual([]);
    expect(expected('/b', { expressions: good })).toEqual(['expressions[0]: false']);
    expect(expected('/a', { expressions: ['res.status_cod == 200'] })[0]).toContain('status_cod');
    expect(expected('/a', { expressions: ["getResHeader('none')[0] == 'a'"] })[0]).toMatch(
      /^expressions\[0\]: an error/,
    );
  });
});

describe('`fetches`', () => {
  it('are the requests that the edge has made', () => {
    const sent = {
      method: 'POST',
      url: { starts_with: 'https://authz.test/check?user=' },
      headers: { 'x-from': 'edge' },
      json: { '$.path': '/ask' },
    };
    expect(expected('/ask', { fetches: [sent] })).toEqual([]);
    expect(expected('/ask', { fetches: 1 })).toEqual([]);
    expect(expected('/', { fetches: 0 })).toEqual([]);
    expect(expected('/', { fetches: [sent] })).toEqual(['fetches: 0']);
    expect(expected('/ask', { fetches: [{ ...sent, method: 'GET' }] })).toEqual([
      "fetches[0].method: 'POST'",
    ]);
  });
});

describe('`counts`', () => {
  const counted = (counts: object) =>
    mismatches({
      timeline: [
        {
          at: '0s',
          upstreams: { app: { sequence: [200, 500, 200] } },
          send: { path: '/', count: 3 },
          expect: { counts },
        },
      ],
    });
  it('may be ranges', () => {
    expect(counted({ 200: { at_least: 1, at_most: 2 }, 500: 1 })).toEqual([]);
    expect(counted({ 200: { at_least: 3 }, 500: { at_least: 0 } })).toEqual([
      expect.stringMatching(/^counts: 2 × 200/),
    ]);
    expect(counted({ 200: 2 })).toEqual([expect.stringMatching(/^counts: /)]);
    expect(counted({ 200: { at_least: 3, at_most: 1 }, 500: 1 })).toEqual([
      'no number is at least 3 and at most 1',
    ]);
  });
});
