import { expect, test } from 'vitest';
import { findings } from '../../src/analysis/findings.ts';
import { checkWholeEdge } from '../../src/edge/semantic_checks.ts';
import { CORRECT } from './correct_edges.ts';
import { DEPLOYED_WELL, DEPLOYMENT_MISTAKES } from './deployment_mistakes.ts';
import { HEADERS_DONE_RIGHT, HEADER_MISTAKES } from './header_mistakes.ts';
import { KNOWN_MISTAKES } from './known_mistakes.ts';
import { OPERATOR_MISTAKES } from './operator_mistakes.ts';
import { PLANTED, type PlantedMistake } from './planted_mistakes.ts';

/** The file of a mistake: without its parts no finding is left. */
function fileOf({
  rules,
  responses,
  shop,
  route,
  routes = [],
  more,
  backends,
  hostports = ['shop.test:443'],
}: PlantedMistake) {
  const phases = { on_http_request: rules, on_http_response: responses };
  const policy =
    rules === undefined && responses === undefined
      ? {}
      : { traffic_policy: { value: JSON.stringify(phases) } };
  const first = {
    match_type: 'path_prefix',
    match: '/',
    backend: { backend_id: 'app' },
    ...policy,
    ...route,
  };
  return {
    backends: { app: { static: { address: 'localhost:3000' } }, ...backends },
    edges: { https: { shop: { hostports, routes: [first, ...routes], ...shop } } },
    ...more,
  };
}

/** What the check says, and the analysis, which needs a file without errors. */
function foundIn(mistake: PlantedMistake): readonly { readonly code: string; readonly pointer: string }[] {
  const { config, diagnostics } = checkWholeEdge({ value: fileOf(mistake) });
  return config === null ? diagnostics : [...diagnostics, ...findings(config)];
}

test('planted mistakes are found with their code at their place', { timeout: 300_000 }, () => {
  const all = [
    ...PLANTED,
    ...KNOWN_MISTAKES,
    ...OPERATOR_MISTAKES,
    ...DEPLOYMENT_MISTAKES,
    ...HEADER_MISTAKES,
  ];
  const missed = all.flatMap((mistake) => {
    const found = foundIn(mistake);
    const hit = found.some(({ code, pointer }) => code === mistake.code && pointer.endsWith(mistake.at));
    return hit
      ? []
      : [`${mistake.name}: ${found.map(({ code, pointer }) => `${code} ${pointer}`).join(', ')}`];
  });
  expect(all.length).toBeGreaterThanOrEqual(212);
  expect(missed).toEqual([]);
});

test('without the mistakes nothing is found', () => {
  const plain = { name: '', code: '', at: '' };
  expect(foundIn(plain)).toEqual([]);
});

test('in correct configurations nothing is found', () => {
  const alarms = [...CORRECT, ...DEPLOYED_WELL, ...HEADERS_DONE_RIGHT].flatMap((correct) => {
    const found = foundIn({ ...correct, code: '', at: '' });
    return found.map(({ code, pointer }) => `${correct.name}: ${code} ${pointer}`);
  });
  expect(CORRECT.length).toBeGreaterThanOrEqual(20);
  expect(alarms).toEqual([]);
});

test('all other agents are denied on purpose, once some are allowed', () => {
  const route = { user_agent_filter: { allow: ['^curl/'], deny: ['.*'] } };
  const codes = foundIn({ name: '', code: '', at: '', route }).map(({ code }) => code);
  expect(codes.filter((code) => code.startsWith('analysis.'))).toEqual([]);
});
