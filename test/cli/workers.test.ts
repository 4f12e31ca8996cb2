import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readOpenMetrics } from '../server/open_metrics.ts';
import { MAIN } from './main_file.ts';
import { freePort } from '../free_port.ts';

let pending: ServerResponse | null = null;
const upstream = createServer((request, response) => {
  if (request.url === '/slow') pending = response.writeHead(200, { 'content-length': '4' });
  else response.end('x'.repeat(2_000));
});

describe('several processes behind one listener', () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeproof-workers-'));
  const events = join(folder, 'events.ndjson');
  let child: ChildProcess;
  let said = '';
  let url: string;
  let admin: string;

  beforeAll(async () => {
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const { port } = upstream.address() as AddressInfo;
    const file = join(folder, 'edge.yaml');
    writeFileSync(
      file,
      `backends: { app: { static: { address: '127.0.0.1:${port}' } } }
edges: { https: { a: { hostports: ['a.test:443'], routes: [
  { match_type: path_prefix, match: /, backend: { backend_id: app } } ] } } }\n`,
    );
    const [edgePort, adminPort] = [await freePort(), await freePort()];
    url = `http://127.0.0.1:${edgePort}`;
    admin = `http://127.0.0.1:${adminPort}`;
    const args = ['dev', file, '--workers', '2', '--port', String(edgePort), '--strict-port'];
    child = spawn(process.execPath, [MAIN, ...args, '--admin-port', String(adminPort), '--events', events], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    await new Promise<void>((resolve, reject) => {
      const hear = (piece: Buffer): void => {
        said += piece.toString();
        if (said.includes('ready in')) resolve();
      };
      child.stdout!.on('data', hear);
      child.stderr!.on('data', hear);
      child.once('exit', () => reject(new Error(said)));
    });
  }, 25_000);

  afterAll(() => {
    child.kill('SIGKILL');
    upstream.closeAllConnections();
    upstream.close();
  });

  it('add their counts, and write complete events', async () => {
    await Promise.all(
      Array.from({ length: 200 }, async (_, at) => {
        const response = await fetch(`${url}/${at}`, { headers: { connection: 'close' } });
        expect((await response.text()).length).toBe(2_000);
      }),
    );
    const families = readOpenMetrics(await (await fetch(`${admin}/metrics`)).text());
    const counted = [...families.get('edgeproof_requests')!.samples.values()];
    expect(counted.reduce((sum, each) => sum + each, 0)).toBe(200);
    const lines = (): string[] => readFileSync(events, 'utf8').trim().split('\n');
    await expect.poll(() => lines().length).toBe(200);
    const ids = lines().map((line) => (JSON.parse(line) as { event_id: string }).event_id);
    expect(new Set(ids).size).toBe(200);
  });

  it('one that is killed is replaced, and the other one serves the connections that it had not accepted', async () => {
    const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ');
    expect(children.length).toBe(2);
    const victim = Number(children[0]);
    process.kill(victim, 'SIGSTOP');
    let served = 0;
    const all = Array.from({ length: 4 }, async () => {
      const response = await fetch(`${url}/early`, { headers: { connection: 'close' } });
      await response.text();
      served++;
    });
    // A worker gets the next connection when it has accepted the one before.
    await expect.poll(() => served).toBe(3);
    process.kill(victim, 'SIGKILL');
    await Promise.all(all);
    await expect.poll(() => said).toContain('starting another one');
    for (let at = 0; at < 20; at++) {
      const response = await fetch(`${url}/again`, { headers: { connection: 'close' } });
      expect(response.status).toBe(200);
      await response.text();
    }
  });

  it('drain together: requests in flight complete, and the exit is clean', async () => {
    const answered = fetch(`${url}/slow`);
    await expect.poll(() => pending !== null).toBe(true);
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await expect.poll(async () => (await fetch(`${admin}/readyz`)).status).toBe(503);
    pending!.end('done');
    expect(await (await answered).text()).toBe('done');
    expect(await exited).toEqual([0, null]);
  });
});

describe('several processes that cannot begin', () => {
  it.each([
    ['a file with errors', 'edges: { https: { a: { hostports: [] } } }\n', 3, / error edge\./g],
    ['a file that is not there', null, 2, /edge\.yaml/g],
  ])('%s: one error, and its exit code', async (_name, content, code, error) => {
    const file = join(mkdtempSync(join(tmpdir(), 'edgeproof-workers-')), 'edge.yaml');
    if (content !== null) writeFileSync(file, content);
    const admin = String(await freePort());
    const args = [MAIN, 'dev', file, '--workers', '2', '--port', '0', '--admin-port', admin];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const exited = once(child, 'exit');
    const printed = Promise.all([text(child.stdout), text(child.stderr)]);
    const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
    expect(await exited).toEqual([code, null]);
    clearTimeout(late);
    expect((await printed).join('').match(error)).toHaveLength(1);
  });
});
