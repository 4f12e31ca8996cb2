import { afterEach, describe, expect, it } from 'vitest';
import { KEYS, startDouble } from '../events/destinations/doubles.ts';
import { type Instance, startInstance } from './instance.ts';

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

const creds = { aws_access_key_id: KEYS.accessKeyId, aws_secret_access_key: KEYS.secretAccessKey };
const target = {
  cloudwatch_logs: { auth: { creds }, log_group_arn: 'arn:aws:logs:eu-west-1:1:log-group:g' },
};

async function startWith(rejectedLogEventsInfo: () => object | undefined): Promise<Instance> {
  const double = await startDouble(() => ({
    status: 200,
    body: { rejectedLogEventsInfo: rejectedLogEventsInfo() },
  }));
  open.push(double.close);
  const instance = await startInstance({
    allowPrivateCallbacks: true,
    cloud: { endpoint: () => double.url },
    delivery: { retryMs: 5 },
  });
  open.push(instance.close);
  return instance;
}

describe('dead letters', () => {
  it('are listed with their reason, and sent again on demand', async () => {
    let rejected: object | undefined = { expiredLogEventEndIndex: 1 };
    const instance = await startWith(() => rejected);
    const { id } = await instance.make('/event_destinations', { target });
    const sources = [{ type: 'vault_created.v0' }];
    await instance.make('/event_subscriptions', { sources, destination_ids: [id] });
    await instance.make('/vaults', { name: 'v' });
    const path = `/event_destinations/${id}/dead_letters`;
    await expect.poll(async () => (await instance.call('GET', path)).body.dead_letters).toHaveLength(1);
    const { body } = await instance.call('GET', path);
    expect(body.uri).toBe(`${instance.url}${path}`);
    expect(body.dead_letters[0]).toMatchObject({
      reason: 'older than the retention of the log group',
      event: { event_type: 'vault_created.v0', object: { name: 'v' } },
    });
    const status = async () => (await instance.call('GET', `/event_destinations/${id}`)).body.status;
    await expect.poll(status).toMatchObject({ state: 'ok', waiting: 0, dead: 1 });
    rejected = undefined;
    expect((await instance.call('POST', `${path}/redeliver`)).status).toBe(204);
    await expect.poll(status).toMatchObject({ state: 'ok', waiting: 0, dead: 0 });
    expect((await instance.call('GET', path)).body.dead_letters).toEqual([]);
    expect((await instance.call('GET', '/event_destinations/ed_x/dead_letters')).status).toBe(404);
  });

  it('are listed page by page, newest first', async () => {
    const instance = await startWith(() => undefined);
    const { id } = await instance.make('/event_destinations', { target });
    const { store } = instance.management;
    const letters = Array.from({ length: 250 }, (_, number) => ({ event: `{"n":${number}}`, reason: 'r' }));
    await store.write((transaction) => transaction.bury(id, letters));
    const path = `/event_destinations/${id}/dead_letters`;
    const pages: number[][] = [];
    for (let next: string | null = path; next !== null;) {
      const { body } = await instance.call('GET', next);
      pages.push((body.dead_letters as { event: { n: number } }[]).map(({ event }) => event.n));
      next = body.next_page_uri === null ? null : String(body.next_page_uri).slice(instance.url.length);
    }
    expect(pages.map((page) => page.length)).toEqual([100, 100, 50]);
    expect(pages.flat()).toEqual(Array.from({ length: 250 }, (_, at) => 249 - at));
    const first = (await instance.call('GET', `${path}?limit=2`)).body.dead_letters;
    expect(first).toMatchObject([{ event: { n: 249 } }, { event: { n: 248 } }]);
    const after = `${path}?before_id=${first[1].id}&limit=1`;
    expect((await instance.call('GET', after)).body.dead_letters).toMatchObject([{ event: { n: 247 } }]);
    expect((await instance.call('GET', `${path}?before_id=ed_x`)).status).toBe(400);
    expect((await instance.call('GET', `${path}?page=2`)).status).toBe(400);
  });

  it('are bounded: the oldest are removed', async () => {
    const instance = await startWith(() => undefined);
    const { id } = await instance.make('/event_destinations', { target });
    const { store } = instance.management;
    const letters = Array.from({ length: 1_005 }, (_, number) => ({ event: `${number}`, reason: 'r' }));
    await store.write((transaction) => transaction.bury(id, letters));
    const kept = await store.read((view) => view.deadLetters(id, 2_000));
    expect([kept.length, kept[0]!.event]).toEqual([1_000, '5']);
  });
});
