import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Instance, startInstance } from './instance.ts';

/** Objects and pages are written once for many reads, which no reader may notice. */

let instance: Instance;
beforeAll(async () => {
  instance = await startInstance();
});
afterAll(() => instance.close());

/** Reads with another host, which `fetch` does not allow. */
function readAt(host: string, path: string): Promise<Answer['body']> {
  const headers = { authorization: `Bearer ${instance.key}`, 'service-version': '2', host };
  return new Promise((resolve, reject) => {
    const sent = request(instance.url + path, { headers }, (response) => {
      text(response).then((body) => resolve(JSON.parse(body)), reject);
    });
    sent.on('error', reject).end();
  });
}

const get = async (path: string) => (await instance.call('GET', path)).body;

describe('a read', () => {
  it('has the uris of its own host, and what was written last', async () => {
    const { id } = await instance.make('/vaults', { name: 'one' });
    const at = `/vaults/${id}`;
    for (const host of ['one.test', 'two.test:81', 'one.test']) {
      expect(await readAt(host, at)).toMatchObject({ name: 'one', uri: `http://${host}${at}` });
      const { uri, vaults, next_page_uri: next } = await readAt(host, '/vaults?limit=1');
      expect([uri, vaults[0].uri, next]).toEqual([`http://${host}/vaults`, `http://${host}${at}`, null]);
    }
    for (const name of ['two', 'three']) {
      await instance.call('PATCH', at, { name });
      expect([(await get(at)).name, (await get('/vaults')).vaults[0].name]).toEqual([name, name]);
    }
    await instance.make('/vaults', { name: 'more' });
    expect((await get('/vaults')).vaults).toHaveLength(2);
    expect((await get('/vaults?limit=1')).next_page_uri).toContain('before_id=');
    await instance.call('DELETE', at);
    expect((await instance.call('GET', at)).status).toBe(404);
    expect((await get('/vaults')).vaults).toHaveLength(1);
  });

  it('has the parts of an object, whatever was read before', async () => {
    const { id } = await instance.make('/edges/https', { hostports: ['parts.test:443'] });
    const at = `/edges/https/${id}`;
    expect((await get(at)).routes).toEqual([]);
    const route = await instance.make(`${at}/routes`, { match_type: 'path_prefix', match: '/a' });
    const matches = async () =>
      [await get(at), (await get('/edges/https')).https_edges[0]].map(({ routes }) =>
        routes.map(({ match }: { match: string }) => match),
      );
    expect(await matches()).toEqual([['/a'], ['/a']]);
    await instance.call('PATCH', `${at}/routes/${route.id}`, { match: '/b' });
    expect(await matches()).toEqual([['/b'], ['/b']]);
  });

  it('has the present status of what is delivered', async () => {
    const { id } = await instance.make('/event_destinations', { target: { file: { name: 'events' } } });
    const at = `/event_destinations/${id}`;
    const waiting = async () => [
      (await get(at)).status.dropped,
      (await get('/event_destinations')).event_destinations[0].status.dropped,
    ];
    expect(await waiting()).toEqual([0, 0]);
    instance.management.delivering.dropped(id, 3);
    expect(await waiting()).toEqual([3, 3]);
  });

  it('of a bot has only what it may see, also after an admin has read the same page', async () => {
    const bot = await instance.make('/bot_users', { name: 'robot' });
    const { token } = await instance.make('/api_keys', { owner_id: bot.id });
    const own = { authorization: `Bearer ${token}` };
    for (let turn = 0; turn < 2; turn++) {
      expect((await get('/api_keys')).keys).toHaveLength(2);
      expect((await instance.call('GET', '/api_keys', undefined, own)).body.keys).toHaveLength(1);
    }
  });
});
