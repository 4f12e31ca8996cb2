import { afterAll, beforeAll, expect, it } from 'vitest';
import { RESOURCES } from '../../src/control/resources/table.ts';
import { type Instance, startInstance } from './instance.ts';
import { SAMPLES } from './samples.ts';

let instance: Instance;
beforeAll(async () => {
  instance = await startInstance();
});
afterAll(() => instance.close());

/** Every address in a response. */
function urisIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    (key === 'uri' || key === 'next_page_uri') && typeof each === 'string' ? [each] : urisIn(each),
  );
}

it('every uri in every response leads to its object', async () => {
  const { id: edge } = await instance.make('/edges/https', { hostports: ['uris.test:443'] });
  const seen = new Set<string>();
  const follow = async (answer: unknown): Promise<void> => {
    for (const uri of urisIn(answer)) {
      if (seen.has(uri)) continue;
      seen.add(uri);
      expect(uri.startsWith(`${instance.url}/`)).toBe(true);
      const got = await instance.call('GET', uri.slice(instance.url.length));
      expect([uri, got.status]).toEqual([uri, 200]);
      if (got.body.uri !== undefined) expect(got.body.uri).toBe(uri.replace(/\?.*/, ''));
      await follow(got.body);
    }
  };
  let number = 0;
  for (const resource of RESOURCES) {
    const path = resource.path.replace('{edge_id}', edge);
    const sample = SAMPLES[resource.kind]!;
    for (let made = 0; made < (sample.once === true ? 1 : 2); made++)
      await follow(await instance.make(path, await sample.create(instance, ++number)));
    if (resource.operations.includes('list'))
      await follow((await instance.call('GET', `${path}?limit=1`)).body);
  }
  for (const path of ['/app/users', '/app/sessions', '/tunnels', '/endpoints', '/tunnel_sessions'])
    await follow((await instance.call('GET', path)).body);
  const events = await instance.management.store.read((view) => view.audit(1_000));
  for (const { event } of events) await follow(JSON.parse(event));
  expect([...seen].some((uri) => uri.includes('/users/usr_'))).toBe(true);
  expect(seen.size).toBeGreaterThan(60);
});
