import { queryObjects } from 'node:v8';
import { expect, test } from 'vitest';
import { PersistentMap } from '../../src/caches/persistent_map.ts';
import { createEdge } from '../../src/edgeproof.ts';
import { tablesOf, withTables } from '../../src/edge/document/config_tables.ts';
import { FIXTURE_EDGES } from '../fixture_edges.ts';

const SWAPS = 40;

test.each(['sample', 'every_module'])('%s: configurations that were replaced are released', (name) => {
  const edge = createEdge(FIXTURE_EDGES[name]!());
  /** A new version of the first edge, as a write by the API makes it. */
  const swap = (revision: number): void => {
    const tables = tablesOf(edge.config);
    const [[key, first]] = [...tables.https] as [[string, (typeof edge.config.edges.https)[string]]];
    const routes = first.routes.map((route) => ({
      ...route,
      response_headers: { enabled: true, add: { 'x-revision': `${revision}` }, remove: [] },
    }));
    const https = tables.https.with([[key, { ...first, routes }]]);
    edge.runtime.swap(withTables(edge.config, { ...tables, https }));
  };
  // Fills the caches first.
  for (let revision = 0; revision < 3; revision++) swap(revision);
  const before = queryObjects(PersistentMap, { format: 'count' });
  for (let revision = 0; revision < SWAPS; revision++) swap(revision);
  expect(queryObjects(PersistentMap, { format: 'count' })).toBeLessThan(before + SWAPS / 2);
});
