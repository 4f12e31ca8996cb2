import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Verdict } from '../../../src/engine/contract.ts';
import type { CompiledPolicy } from '../../../src/policy/compiled.ts';
import { runRequest, runResponse } from '../../../src/policy/phases.ts';
import { type Given, connectionOf, headOf, policyOf } from './stage.ts';
import { runs, sized } from '../../random.ts';

/** The same rule many times. */
function repeated(count: number, text: string): string {
  const one = { expressions: [text], actions: [{ type: 'deny' }] };
  return JSON.stringify({ on_http_request: Array.from({ length: count }, () => one) });
}

/** A run and what identifies it: the verdict, and the number of random draws. */
function walk(policy: CompiledPolicy, given: Given, status: number): object {
  let drawn = 0;
  const world = { nowMs: () => 0, random: () => (drawn++ % 3) / 3 };
  const connection = connectionOf(given);
  const head = headOf(given);
  const request = runRequest(policy, head, connection, null, world) as Verdict;
  const { filterData: carry, ...seen } = request;
  if (request.verdict === 'stop') return { seen, drawn };
  const response = runResponse(policy, { status, headers: [] }, head, connection, world, carry) as Verdict;
  const { filterData: _kept, ...seenThen } = response;
  return { seen, seenThen, drawn };
}

const paths = ['/', '/a', '/a/', '/a/b', '/a/b/c', '/ab', '/b', '/é', '/zzz'];
const path = fc.constantFrom(...paths);
const quoted = (text: string) => JSON.stringify(text);

/** Expressions that contain facts, and expressions that fail, draw random numbers, or depend on results of actions. */
const fact = fc.oneof(
  path.map((each) => `req.url.path == ${quoted(each)}`),
  path.map((each) => `${quoted(each)} == req.url.path`),
  path.map((each) => `req.url.path.startsWith(${quoted(each)})`),
  fc.array(path, { minLength: 1, maxLength: 3 }).map((each) => `req.url.path in ${JSON.stringify(each)}`),
  fc.constantFrom('GET', 'PUT').map((each) => `req.method == '${each}'`),
  fc.constantFrom('a.example', 'b.example').map((each) => `req.host == '${each}'`),
  fc.constantFrom('https://a.example/', 'https://').map((each) => `req.url.startsWith('${each}')`),
  fc.constantFrom(1, 40_000).map((each) => `conn.client_port == ${each}`),
);
const other = fc.constantFrom(
  "req.headers['x'][0] == 'a'",
  "getReqHeader('x') == ['a']",
  "hasReqHeader('y')",
  'rand.double() < 0.5',
  "'n' in vars",
  'vars.n == 1',
  "req.url.path.matches('^/a')",
  'int(req.url.path.substring(1)) == 1',
  "req.url.path.split('/').exists(x, x == 'b')",
  'has(actions.service.log) && actions.service.log.metadata.n == 3',
  'dyn(req.method) == 1',
);
const simple = fc.oneof({ weight: 6, arbitrary: fact }, { weight: 1, arbitrary: other });

const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 4, arbitrary: simple },
    {
      weight: 3,
      arbitrary: fc
        .array(tie('expression'), { minLength: 2, maxLength: 3 })
        .map((terms) => `(${terms.join(' && ')})`),
    },
    {
      weight: 1,
      arbitrary: fc
        .array(tie('expression'), { minLength: 2, maxLength: 3 })
        .map((terms) => `(${terms.join(' || ')})`),
    },
    { weight: 1, arbitrary: tie('expression').map((term) => `!(${term})`) },
  ),
}));

const action = fc.oneof(
  { weight: 6, arbitrary: fc.nat(5).map((n) => ({ type: 'log', config: { metadata: { n } } })) },
  { weight: 2, arbitrary: fc.nat(2).map((n) => ({ type: 'set-vars', config: { vars: [{ n }] } })) },
  {
    weight: 2,
    arbitrary: fc.tuple(path, path).map(([from, to]) => ({
      type: 'url-rewrite',
      config: { from: `example${from}\\b`, to: `example${to}` },
    })),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom('host', 'x', 'y').map((name) => ({
      type: 'add-headers',
      config: { headers: { [name]: name === 'host' ? 'b.example' : 'a' } },
    })),
  },
);

/** No action may follow one that always ends the phase. */
const actions = fc
  .tuple(fc.array(action, { minLength: 1, maxLength: 2 }), fc.nat(9))
  .map(([list, last]) => (last === 0 ? list.concat({ type: 'deny' } as never) : list));

const rule = fc.record({ expressions: fc.array(expression, { minLength: 1, maxLength: 3 }), actions });

const responseRule = fc.record({
  expressions: fc
    .tuple(
      fc.constantFrom(200, 404, 500).map((status) => `res.status_code == ${status}`),
      fc.array(expression, { maxLength: 1 }),
    )
    .map(([first, rest]) => [first].concat(rest)),
  actions: fc.nat(5).map((n) => [{ type: 'log', config: { metadata: { n } } }]),
});

const request: fc.Arbitrary<Given> = fc.record({
  method: fc.constantFrom('GET', 'PUT'),
  path: fc.oneof(path, fc.constantFrom('/A', '/A/b', '/a;x/b', '/a%2fb', '/a/b%20')),
  host: fc.constantFrom('a.example', 'b.example'),
  headers: fc.constantFrom(['X', 'a'], ['x', 'b', 'y', 'c'], ['x', 'a', 'x', 'c'], []),
});

describe('an index of rules', () => {
  test('changes only the time, not verdicts, edits, steps, errors or randomness', () => {
    let indexed = 0;
    fc.assert(
      fc.property(
        fc.array(rule, { minLength: 8, maxLength: 14 }),
        fc.array(responseRule, { minLength: 8, maxLength: 8 }),
        fc.array(request, { minLength: 4, maxLength: 4 }),
        fc.constantFrom(200, 404, 500),
        (rules, responseRules, requests, status) => {
          const text = JSON.stringify({ on_http_request: rules, on_http_response: responseRules });
          const quick = policyOf(text);
          const plain = policyOf(text, {}, { index: false });
          if (quick.request!.index !== null) indexed++;
          for (const given of requests)
            expect(walk(quick, given, status)).toEqual(walk(plain, given, status));
        },
      ),
      sized(200, 10),
    );
    // The comparison is only meaningful if there was an index.
    expect(indexed).toBeGreaterThan(runs(200) / 2);
  });

  test('is built from the required facts of rules, and leaves the rest to be evaluated', () => {
    const rules = Array.from({ length: 20 }, (_each, index) => ({
      expressions: [index % 2 === 0 ? `req.url.path.startsWith('/p${index}/')` : `req.host == 'h${index}'`],
      actions: [{ type: 'log', config: { metadata: { n: index } } }],
    }));
    const policy = policyOf(JSON.stringify({ on_http_request: rules }));
    expect(policy.request!.index).not.toBeNull();
    const connection = connectionOf({});
    const world = { nowMs: () => 0, random: () => 0 };
    const verdict = runRequest(
      policy,
      headOf({ host: 'h7', path: '/p4/x' }),
      connection,
      null,
      world,
    ) as Verdict;
    expect(verdict.edits).toEqual([
      { edit: 'log', metadata: { n: 4 } },
      { edit: 'log', metadata: { n: 7 } },
    ]);
  });

  test('does not skip a rule that guards by the path for another spelling of it', () => {
    const rules = Array.from({ length: 20 }, (_each, index) => ({
      expressions: [`req.url.path.startsWith('/p${index}/')`],
      actions: [{ type: 'deny' }],
    }));
    const policy = policyOf(JSON.stringify({ on_http_request: rules }));
    expect(policy.request!.index).not.toBeNull();
    const world = { nowMs: () => 0, random: () => 0 };
    const verdictOf = (spelling: string) =>
      (runRequest(policy, headOf({ path: spelling }), connectionOf({}), null, world) as Verdict).verdict;
    expect(['/P7/x', '/p7%2fx', '/p7;a/x', '/p7/x', '/p20/x'].map(verdictOf)).toEqual([
      'stop',
      'stop',
      'stop',
      'stop',
      'pass',
    ]);
  });

  test('is used again after an edit', () => {
    const rules = Array.from({ length: 10 }, (_each, index) => ({
      expressions: [`req.url.path == '/${index}'`],
      actions: [{ type: 'url-rewrite', config: { from: '/[0-9]+$', to: `/${index + 1}` } }],
    }));
    const policy = policyOf(JSON.stringify({ on_http_request: rules }));
    expect(policy.request!.index).not.toBeNull();
    const world = { nowMs: () => 0, random: () => 0 };
    const verdict = runRequest(policy, headOf({ path: '/3' }), connectionOf({}), null, world) as Verdict;
    expect(verdict.edits?.at(-1)).toEqual({ edit: 'target', path: '/10', query: undefined });
    expect(verdict.edits).toHaveLength(7);
  });

  test('is not built for few rules, nor for rules without facts', () => {
    expect(policyOf(repeated(7, "req.method == 'PUT'")).request!.index).toBeNull();
    expect(policyOf(repeated(8, "req.method == 'PUT'")).request!.index).not.toBeNull();
    expect(policyOf(repeated(8, "req.method != 'PUT'")).request!.index).toBeNull();
    expect(policyOf(repeated(8, "rand.double() < 0.5 && req.method == 'PUT'")).request!.index).toBeNull();
    expect(
      policyOf(repeated(8, "req.headers['x'][0] == 'a' && req.method == 'PUT'")).request!.index,
    ).not.toBeNull();
  });
});
