import { expect, it } from 'vitest';
import { edgeObjects } from '../../src/control/api/edge_objects.ts';

const policy = (value: string) => ({ enabled: true, value });
const route = (body: object) => ({
  id: 'edghtsrt_1',
  kind: 'https_edge_route',
  parent: 'edghts_1',
  body: { match_type: 'path_prefix', match: '/', ...body },
});

it('the parts that a change leaves equal stay the same objects, so that they are not compiled again', () => {
  const first = route({ traffic_policy: policy('a'), compression: { enabled: true } });
  const objects = edgeObjects([first]);
  // Bodies are read from the store again in every write.
  const changed = structuredClone(route({ traffic_policy: policy('a'), compression: { enabled: false } }));
  const takeBack = objects.take([{ object: changed, isGone: false }]);
  const { body } = objects.get('edghtsrt_1')!;
  expect(body).toEqual(changed.body);
  expect(body['traffic_policy']).toBe((first.body as typeof body)['traffic_policy']);
  expect(body['compression']).toBe((changed.body as typeof body)['compression']);
  takeBack();
  expect(objects.get('edghtsrt_1')).toBe(first);
});
