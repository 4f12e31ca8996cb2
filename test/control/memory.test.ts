import { queryObjects } from 'node:v8';
import { expect, it } from 'vitest';
import { KeyedList } from '../../src/caches/keyed_list.ts';
import { PersistentMap } from '../../src/caches/persistent_map.ts';
import { IS_FULL } from '../random.ts';
import { startInstance } from './instance.ts';

const CYCLES = IS_FULL ? 12 : 6;
/** Counting walks the whole heap, which takes as long as all cycles of a short run. */
const KINDS = IS_FULL ? [Map, KeyedList, PersistentMap] : [Map];

it('objects that were created and deleted leave nothing behind', async () => {
  const own = await startInstance();
  let number = 0;
  /** Creates an edge with all that it refers to, and an endpoint, and deletes them. */
  const cycle = async (): Promise<void> => {
    const made: string[] = [];
    const make = async (path: string, body: object): Promise<string> => {
      const { id } = await own.make(path, body);
      made.unshift(`${path}/${id}`);
      return id;
    };
    number++;
    const policy = await make('/ip_policies', {});
    await make('/ip_policy_rules', { ip_policy_id: policy, action: 'allow', cidr: '10.0.0.0/8' });
    const first = await make('/backends/static', { address: 'localhost:1' });
    const weighted = await make('/backends/weighted', { backends: { [first]: 1 } });
    const edge = await make('/edges/https', { hostports: [`e${number}.test:443`] });
    const restriction = { ip_policy_ids: [policy] };
    const value = '{"on_http_request": [{"actions": [{"type": "deny"}]}]}';
    await make(`/edges/https/${edge}/routes`, {
      match_type: 'path_prefix',
      match: '/',
      backend: { backend_id: weighted },
      ip_restriction: restriction,
      traffic_policy: { value },
    });
    await make('/edges/tls', { hostports: [`t${number}.test:443`], backend: { backend_id: weighted } });
    await make('/endpoints', { url: `https://c${number}.test`, type: 'cloud', traffic_policy: value });
    await make('/api_keys', {});
    for (const path of made) expect((await own.call('DELETE', path)).status).toBe(204);
  };
  // Fills the caches first.
  for (let warm = 0; warm < 3; warm++) await cycle();
  const count = () => KINDS.map((kind) => queryObjects(kind as never, { format: 'count' }));
  const before = count();
  // Counting takes long enough for the server to close an idle connection.
  await own.call('GET', '/vaults').catch(() => undefined);
  for (let each = 0; each < CYCLES; each++) await cycle();
  const now = count();
  for (const [index, kind] of KINDS.entries())
    expect([kind.name, now[index]! - before[index]! < CYCLES / 2]).toEqual([kind.name, true]);
  await own.close();
});
