import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Relay, relayTo } from '../control/relay.ts';
import { hasPostgres, newDatabase } from '../control/store/postgres_database.ts';
import { readOpenMetrics } from '../server/open_metrics.ts';
import { type Running, edgeproof, start } from './command.ts';
import { limitedPolicy } from './limited_policy.ts';
import { untilServing, workersOf } from './worker_processes.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeproof-serve-workers-'));

describe('serve --workers refuses', () => {
  it.each([
    [['--store', 'team.db'], /needs a store in PostgreSQL.*team\.db.*store copy sqlite:team\.db/],
    [['--store', 'postgres://a.test/b', '--agents'], /cannot be combined with --agents/],
    [['--store', 'postgres://a.test/b', '--inspector'], /cannot be combined with --inspector/],
    [['--store', 'postgres://a.test/b', '--event-files', 'x'], /cannot be combined with --event-files/],
  ])('%j', async (args, message) => {
    const { code, stderr } = await edgeproof(['serve', '--workers', '2', ...args], folder);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  });
});

describe.skipIf(!(await hasPostgres('serve --workers')))('serve --workers 2', () => {
  let drop: () => Promise<unknown>;
  let relay: Relay;
  let running: Running;
  let places = { edge: '', api: '', admin: '', key: '' };
  let backend = '';

  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(places.api + path, {
      method,
      headers: {
        authorization: `Bearer ${places.key}`,
        'service-version': '2',
        'content-type': 'application/json',
        connection: 'close',
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const answer = await response.text();
    expect([response.status < 300, answer]).toEqual([true, answer]);
    return { id: (JSON.parse(answer) as { id: string }).id, headers: response.headers };
  };
  // `fetch` sends no Host of its own.
  const ask = async (path: string): Promise<{ status: number; text: string }> => {
    const sent = request(places.edge + path, { agent: false, headers: { host: 'app.test' } }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return { status: response.statusCode!, text: await text(response) };
  };
  const askMany = (count: number, path: string) =>
    Promise.all(Array.from({ length: count }, () => ask(path)));

  beforeAll(async () => {
    const database = await newDatabase();
    ({ drop } = database);
    const place = new URL(database.url);
    relay = await relayTo(Number(place.port === '' ? 5432 : place.port), place.hostname);
    place.host = `127.0.0.1:${relay.port}`;
    const listening = ['--port', '0', '--api-port', '0', '--admin-port', '0', '--no-tls', '--drain', '5s'];
    const store = ['--store', place.href, '--seal-key-file', 'seal.key'];
    running = start(['serve', '--workers', '2', ...store, ...listening], folder);
    const [, key] = await running.waitFor(/admin key, shown only once: (\S+)/);
    const [, edge, api] = await running.waitFor(/edge (http:\S+) {2}management API (http:\S+)/);
    const [, admin] = await running.waitFor(/health of all workers: (\S+)\/metrics/);
    places = { edge: edge!, api: api!, admin: admin!, key: key! };
    backend = (await call('POST', '/backends/http_response', { body: 'v0' })).id;
    const { id } = await call('POST', '/edges/https', { hostports: ['app.test:443'] });
    await call('POST', `/edges/https/${id}/routes?wait=all`, {
      match_type: 'path_prefix',
      match: '/',
      traffic_policy: { value: limitedPolicy('conn.client_ip') },
      backend: { backend_id: backend },
    });
  });
  afterAll(async () => {
    running?.process.kill('SIGKILL');
    await relay?.close();
    await drop?.();
  });

  it('has two processes that serve, and two that answer the API', async () => {
    await untilServing(running, 2, places.edge);
    await untilServing(running, 2, places.api);
  });

  it('has a write active in all processes when its answer has waited for all', async () => {
    for (let turn = 1; turn <= 5; turn++) {
      const body = `v${turn}`;
      const { headers } = await call('PATCH', `/backends/http_response/${backend}?wait=all`, { body });
      expect(headers.get('server-nodes')).toBe('2/2');
      const answers = await askMany(8, '/');
      expect(answers).toEqual(answers.map(() => ({ status: 200, text: body })));
    }
  });

  it('counts a limit once for all processes', async () => {
    const statuses = (await askMany(60, '/limited')).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(40);
  });

  it('counts requests and says the revision of all processes at one place', async () => {
    const metrics = readOpenMetrics(await (await fetch(`${places.admin}/metrics`)).text());
    const samples = [...metrics.get('edgeproof_requests')!.samples.values()];
    expect(samples.reduce((sum, each) => sum + each, 0)).toBeGreaterThanOrEqual(100);
    expect([...metrics.get('edgeproof_store_leads')!.samples.values()]).toEqual([1]);
  });

  it('starts another process for one that ends, with the state that it shares', async () => {
    for (const pid of workersOf(running)) {
      process.kill(pid, 'SIGKILL');
      await running.waitFor(new RegExp(`worker ${pid} ended \\(SIGKILL\\); starting another one`));
      await untilServing(running, 2, places.edge);
    }
    expect((await askMany(20, '/limited')).map(({ status }) => status)).toEqual(Array(20).fill(429));
    expect(await ask('/')).toEqual({ status: 200, text: 'v5' });
  });

  it('reads the keys again in all processes', async () => {
    running.process.kill('SIGHUP');
    await running.waitFor(/(?:the keys of the secrets and of the sessions were read again[^]*){2}/);
  });

  it('starts another process for one that cannot open the store, while the others serve', async () => {
    relay.hold();
    const former = workersOf(running);
    process.kill(former[0]!, 'SIGKILL');
    await expect.poll(() => workersOf(running).filter((pid) => pid !== former[0]).length).toBe(2);
    // It does not end one that is starting.
    running.process.kill('SIGHUP');
    await running.waitFor(/worker \d+ ended \(4\); starting another one/);
    expect(await ask('/')).toEqual({ status: 200, text: 'v5' });
    relay.mend();
    await untilServing(running, 2, places.edge);
    expect(running.output()).not.toContain('ended (SIGHUP)');
  });

  it('ends on SIGTERM', async () => {
    expect(await running.stop('SIGTERM')).toBe(0);
  });
});
