import { expect, test } from 'vitest';
import { compare } from '../../src/analysis/diff.ts';
import { DiagramTooLarge, Diagrams } from '../../src/analysis/diagram.ts';
import { patternDfa } from '../../src/analysis/fields.ts';
import { takersOf } from '../../src/analysis/expression_findings.ts';
import { findings } from '../../src/analysis/findings.ts';
import { Analysis, Model } from '../../src/analysis/model.ts';
import { prove } from '../../src/analysis/prove.ts';
import { Atoms } from '../../src/analysis/atoms.ts';
import { shortestText } from '../../src/analysis/texts/intersect.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { onePolicy, oneRoute } from '../one_route.ts';
import { runs } from '../random.ts';

/** What would take too long ends as undecided, with the reason: limits are counts of work, not of time. */

const deny = (expression: string) => ({
  expressions: [expression],
  actions: [{ type: 'deny', config: { status_code: 403 } }],
});

test('a pattern with too many states is opaque: undecided, and named', () => {
  const pattern = (tail: string) => deny(`req.user_agent.matches('.*a.{20}${tail}$')`);
  const [before, after] = ['b', 'c'].map((tail) => ({
    config: createEdge(onePolicy({ on_http_request: [pattern(tail)] })).config,
  }));
  expect(patternDfa('.*a.{20}b$')).toBeNull();
  const { verdict, undecided } = compare(before!, after!);
  expect(verdict).toBe('undecided');
  expect(undecided[0]!.reasons.join()).toContain('a.{20}');
});

test('a product of many automata is given up after a number of states', () => {
  const literals = Array.from({ length: 12 }, (_, at) => ({
    dfa: patternDfa(`^(?:[^b]*b[^b]*){${at + 2}}$|^(?:.{${at + 3}})*x$`)!,
    accepted: false,
  }));
  const wanted = { dfa: patternDfa('^(?:a|b)*c{3}$')!, accepted: true };
  expect(shortestText([wanted, ...literals], 2)).toBe('unknown');
});

test('hundreds of patterns for user agents are checked, each against those before it', () => {
  const denied = Array.from({ length: 300 }, (_, at) => `(?i)${(at * 7_919).toString(36)}x${at}bot`);
  const config = oneRoute({ user_agent_filter: { deny: [...denied, '0x0bot'] } });
  const found = findings(createEdge(config).config);
  expect(found.filter(({ code }) => code === 'analysis.dead_pattern')).toMatchObject([
    { pointer: expect.stringMatching(/\/deny\/300$/) as string },
  ]);
});

test('rules that each double the ways through a route are undecided, with what helps', () => {
  const adding = Array.from({ length: 10 }, (_, at) => ({
    expressions: [`req.url.path.contains('x${at}')`],
    actions: [{ type: 'add-headers', config: { headers: { [`x-${at}`]: 'yes' } } }],
  }));
  const [before, after] = ["req.method == 'PUT'", "req.method == 'POST'"].map((expression) => ({
    config: createEdge(onePolicy({ on_http_request: [...adding, deny(expression)] })).config,
  }));
  const { verdict, undecided } = compare(before!, after!);
  expect(verdict).toBe('undecided');
  const reason = /more than 512 ways through this route, .*; join rules/;
  expect(undecided[0]!.reasons.join()).toMatch(reason);
  // An analysis that was given up must not look like one that found nothing.
  expect(findings(before!.config)).toMatchObject([
    { code: 'analysis.too_large', message: expect.stringMatching(reason) as string },
  ]);
});

test('a diagram has no more nodes than allowed', () => {
  const [atoms, diagrams] = [new Atoms(), new Diagrams(2_000)];
  const all = Array.from({ length: 40 }, (_, at) => diagrams.atom(atoms.opaque(String(at), String(at))));
  expect(() =>
    all
      .slice(0, 20)
      .reduce((sum, each, at) => diagrams.or(sum, diagrams.and(each, all[at + 20]!)), diagrams.false),
  ).toThrow(DiagramTooLarge);
});

test('the rules that take the requests of a dead rule are left out if all nodes are used up', () => {
  const rules = [deny("req.method == 'GET'"), deny("req.method == 'GET' && hasReqHeader('x')")];
  const { config } = createEdge(onePolicy({ on_http_request: rules }));
  const pointer = '/edges/https/shop/routes/0/traffic_policy';
  const takers = (nodes?: number): readonly string[] => {
    const model = new Model(config, new Analysis(nodes));
    const document = model.policyOf(config.edges.https['shop']!.routes[0]!.traffic_policy!, pointer)!;
    const place = { model, pointer, text: '' };
    return takersOf({ place, document, cells: [] }, `${pointer}/value/on_http_request/1`);
  };
  expect(takers()).toEqual([`${pointer}/value/on_http_request/0`]);
  expect(takers(4)).toEqual([]);
});

test('hundreds of overlapping patterns on one field end with a verdict', { timeout: 600_000 }, () => {
  const rules = Array.from({ length: runs(400, 20) }, (_, at) =>
    deny(`req.user_agent.matches('(?i)bot${at % 7}.*v${at}')`),
  );
  const { config } = createEdge(onePolicy({ on_http_request: rules }));
  const proof = prove(config, { name: 'none', never: { end: 'forwarded' } });
  expect(['REFUTED', 'UNDECIDED']).toContain(proof.verdict);
  if (proof.verdict === 'UNDECIDED') expect(proof.open[0]!.reasons.join()).not.toBe('');
});
