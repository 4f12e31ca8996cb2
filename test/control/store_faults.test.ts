import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Instance, startInstance } from './instance.ts';

const edgeAt = (host: string) => ({ hostports: [`${host}:443`] });
/** Enough pages for the first objects of an instance, and not for many more. */
const MAX_PAGES = 60;

describe('a store that cannot be written', () => {
  let instance: Instance;
  beforeAll(async () => {
    instance = await startInstance({ storeLimits: { lockMs: 30, maxPages: MAX_PAGES } });
  });
  afterAll(() => instance.close());

  /** A write that the store refuses changes neither the store nor the edge. */
  async function refused(host: string) {
    const { management, call } = instance;
    const revision = management.edge.config;
    const answer = await call('POST', '/edges/https', { ...edgeAt(host), metadata: 'x'.repeat(4096) });
    expect(management.edge.config).toBe(revision);
    expect(
      Object.values(management.edge.config.edges.https).flatMap(({ hostports }) => hostports),
    ).not.toContain(`${host}:443`);
    return answer;
  }

  it('because it is locked is 503 with a code and a time to try again; reads go on', async () => {
    const other = new DatabaseSync(join(instance.folder, 'store.db'));
    other.exec('BEGIN IMMEDIATE');
    const { status, body, headers } = await refused('locked.test');
    expect([status, body.error_code, headers.get('retry-after')]).toEqual([503, 'ERR_SERVICE_20000', '1']);
    expect(body.msg).toMatch(/^Another process has locked the store/);
    expect(body.details.operation_id).toMatch(/^op_/);
    expect((await instance.call('GET', '/edges/https')).status).toBe(200);
    other.exec('COMMIT');
    other.close();
    await instance.make('/edges/https', edgeAt('free.test'));
  });

  it('because its disk is full is 507 with a code; reads and removals go on', async () => {
    const key = await instance.make('/api_keys', { description: 'goes' });
    const filled = async (number: number): Promise<number> => {
      const { status } = await instance.call('POST', '/vaults', {
        name: `v${number}`,
        metadata: 'x'.repeat(4096),
      });
      return status === 201 && number < 100 ? filled(number + 1) : status;
    };
    expect(await filled(0)).toBe(507);
    const { status, body } = await refused('full.test');
    expect([status, body.error_code]).toEqual([507, 'ERR_SERVICE_20000']);
    expect(body.msg).toBe('The disk of the store is full; nothing was changed.');
    expect((await instance.call('GET', `/api_keys/${key.id}`)).status).toBe(200);
    expect(instance.management.edge.decide({ method: 'GET', url: 'https://free.test/' }).status).toBe(404);
  });
});
