import { expect, test } from 'vitest';
import { checkScenario } from '../../src/simulator/document/check.ts';
import { unfrozen } from '../unfrozen.ts';

const WRITTEN = {
  edge: { edges: { https: {} } },
  variables: { paths: ['/a', '/b'] },
  upstreams: { app: { status: 200, json: { names: ['a'] } } },
  cases: [
    {
      name: 'posts {path}',
      each: { path: ['/a', '/b'] },
      request: { method: 'POST', path: '{path}', json: { at: new Date(0), tags: ['x'] } },
      expect: { status: 200, upstream: { json: { tags: ['x'] } } },
    },
  ],
};

/** The edge of a program is accepted by its own check. */
const EDGE = '/shell/edge';

test('an accepted scenario is deeply frozen', () => {
  const { scenario, diagnostics } = checkScenario({ name: 's.json', text: JSON.stringify(WRITTEN) });
  expect(diagnostics).toEqual([]);
  expect(unfrozen(scenario)).toEqual([]);
  expect(() => (scenario!.cases as unknown[]).pop()).toThrow(TypeError);
});

test('and a copy, if a program gives it', () => {
  const given = structuredClone(WRITTEN);
  const before = unfrozen(given);
  const { scenario } = checkScenario({ value: given, name: 's.ts' });
  // Files have no dates, so a date is not copied; both cases have the same one.
  expect(unfrozen(scenario, [EDGE])).toEqual(['/cases/0/config/request/json/at']);
  expect(unfrozen(given)).toEqual(before);
  given.variables.paths.push('/c');
  given.upstreams.app.json.names.push('b');
  expect(scenario!.shell.variables).toEqual({ paths: ['/a', '/b'] });
  expect(scenario!.shell.upstreams!['app']).toMatchObject({ json: { names: ['a'] } });
  expect((scenario!.shell.edge as typeof given.edge).edges).toBe(given.edge.edges);
  expect(scenario!.cases[0]!.config.request).toMatchObject({ json: { at: new Date(0) } });
});
