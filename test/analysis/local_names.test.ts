import { expect, test } from 'vitest';
import { compare } from '../../src/analysis/diff.ts';
import { Analysis, Model } from '../../src/analysis/model.ts';
import { prove } from '../../src/analysis/prove.ts';
import { observe } from '../../src/analysis/witness.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { onePolicy } from '../one_route.ts';
import { runs, seeded } from '../random.ts';
import { ended } from './classify.ts';
import { chanceOf } from './random_edges.ts';
import { mutated, nestedExpression, nestedRequest } from './nested_expressions.ts';

/** What names inside of expressions stand for decides what is known of conditions that are not exact. */

const deny = (expression: string) => ({ expressions: [expression], actions: [{ type: 'deny' }] });
const lane = (value: string) => ({
  expressions: [],
  actions: [{ type: 'set-vars', config: { vars: [{ lane: value }] } }],
});
const members = {
  expressions: [],
  actions: [{ type: 'set-vars', config: { vars: [{ 'a.b': 'x' }, { a: { b: 'y' } }] } }],
};
const configOf = (rules: readonly object[]) => createEdge(onePolicy({ on_http_request: rules })).config;

const halved = deny('cel.bind(r, rand.double(), r * 2.0 < 1.0)');
const spaced = deny('rand . double() * 2.0 < 1.0');
const ofLane = deny("cel.bind(v, vars.lane, v + 'x' == 'ax')");

/** Policies that look alike, and are not. */
const PAIRS: readonly (readonly [name: string, before: readonly object[], after: readonly object[]])[] = [
  [
    'a name in the value of a name',
    [deny("cel.bind(a, req.method, cel.bind(b, a + 'x', b == req.url.query))")],
    [deny("cel.bind(a, req.host, cel.bind(b, a + 'x', b == req.url.query))")],
  ],
  [
    'an element in the value of a name',
    [deny("['a', 'b'].exists(x, cel.bind(y, x + req.method, y == req.url.query))")],
    [deny("['a', 'a'].exists(x, cel.bind(y, x + req.method, y == req.url.query))")],
  ],
  [
    'an element of a field in the value of a name',
    [deny("getReqHeader('x').exists(v, cel.bind(w, v + 'x', w == req.url.query))")],
    [deny("hasReqHeader('x') && getReqHeader('x').all(v, cel.bind(w, v + 'x', w == req.url.query))")],
  ],
  ['a number that is drawn into a name', [halved], [halved, halved]],
  ['a number that is drawn in a wide spelling', [spaced], [spaced, spaced]],
  [
    'a variable that is read into a name',
    [lane('b'), ofLane, lane('a'), ofLane],
    [lane('b'), ofLane, lane('a')],
  ],
  ['a key with a dot', [members, deny("vars['a.b'] == 'x'")], [members, deny("vars.a.b == 'x'")]],
];

test.each(PAIRS)('%s', (_name, before, after) => {
  const [one, other] = [before, after].map((rules) => ({ config: configOf(rules) }));
  expect(compare(one!, other!).verdict).not.toBe('equivalent');
});

test('a list with an element that cannot be read fails, though its elements are not asked', () => {
  const config = configOf([deny("['/', vars.lane].all(v, false)")]);
  expect(observe(new Model(config, new Analysis()), PLAIN)!.explanation.decidedBy.code).toBe(
    'traffic_policy.failed',
  );
  const property = { name: 'x', never: { end: 'blocked' } } as const;
  expect(prove(config, property).verdict).toBe('REFUTED');
});

const PLAIN = { method: 'GET', url: 'https://shop.test/', headers: [], clientIp: '192.0.2.7' };

const ACTIONS = [
  { type: 'deny' },
  { type: 'custom-response', config: { status_code: 202 } },
  { type: 'add-headers', config: { headers: { x: 'a' } } },
  { type: 'remove-headers', config: { headers: ['x'] } },
  { type: 'set-vars', config: { vars: [{ lane: '${req.url.path}' }] } },
  { type: 'url-rewrite', config: { from: '/a/', to: '/b/' } },
];

/** The file of rules; null if the check refuses it. */
function accepted(rules: readonly object[]) {
  try {
    return configOf(rules);
  } catch {
    return null;
  }
}

test('random expressions with names, lists and functions', { timeout: 600_000 }, () => {
  const chance = chanceOf(seeded(51));
  let [equivalent, decided] = [0, 0];
  for (let round = 0; round < runs(120, 5); round++) {
    const rules = Array.from({ length: 1 + Math.floor(chance.real() * 3) }, () => ({
      expressions: [nestedExpression(chance)],
      actions: [chance.pick(ACTIONS)],
    }));
    const at = Math.floor(chance.real() * rules.length);
    const { expressions, actions } = rules[at]!;
    const others = chance.pick([
      rules.with(at, { expressions: expressions.map((each) => mutated(chance, each)), actions }),
      rules.toSpliced(at, 1),
      [...rules, rules[at]!],
    ]);
    const [config, other] = [accepted(rules), accepted(others)];
    if (config === null) continue;
    const isProved = other !== null && compare({ config }, { config: other }).verdict === 'equivalent';
    if (isProved) equivalent++;
    const [model, second] = [config, other ?? config].map((each) => new Model(each, new Analysis()));
    for (const request of Array.from({ length: 40 }, () => nestedRequest(chance))) {
      const observed = observe(model!, request)!;
      if (isProved)
        expect([request, others, observe(second!, request)!.seen]).toEqual([request, others, observed.seen]);
      const outcome = ended(model!, request);
      if (outcome === null) continue;
      decided++;
      const isStopped = observed.explanation.decidedBy.verdict === 'stop';
      if (isStopped && outcome.effects.some(({ mayFail }) => mayFail)) continue;
      expect([request, rules, isStopped]).toEqual([request, rules, outcome.end !== 'forwarded']);
    }
  }
  expect([equivalent > 0, decided > 0]).toEqual([true, true]);
});
