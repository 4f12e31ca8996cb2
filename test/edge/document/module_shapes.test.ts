import { expect, test } from 'vitest';
import { EDGE_SHAPE } from '../../../src/edge/document/report.ts';
import type { Shape } from '../../../src/config_file/shape.ts';
import { MODULES } from '../../../src/filters/modules.ts';

const edge = EDGE_SHAPE.properties!['edges']!.properties!['https']!.additionalProperties as Shape;
const route = edge.properties!['routes']!.items!;
const NO_MODULES = new Set(['match_type', 'match', 'description', 'metadata', 'hostports', 'routes']);

test('every module in the table has a shape, and every shape a module', () => {
  // Two modules belong to the edge and apply to all of its routes.
  const keys = [...Object.keys(edge.properties!), ...Object.keys(route.properties!)];
  const shapes = [...new Set(keys)].filter((key) => !NO_MODULES.has(key));
  expect(shapes.toSorted()).toEqual(MODULES.map(({ type }) => type).toSorted());
});
