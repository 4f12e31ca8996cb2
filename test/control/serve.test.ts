import { existsSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isCidrProblem, parseCidr } from '../../src/net/cidr.ts';
import { writeMmdb } from '../policy/env/mmdb_writer.ts';
import { folderWith } from '../folder.ts';
import { edgeproof } from '../cli/command.ts';
import { MAIN } from '../cli/main_file.ts';

const folder = folderWith();

interface Running {
  readonly process: ChildProcess;
  readonly until: (pattern: RegExp) => Promise<RegExpExecArray>;
  readonly end: Promise<number | null>;
  readonly output: () => string;
}

function run(...args: string[]): Running {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: folder });
  let text = '';
  const end = new Promise<number | null>((resolve) => child.once('close', resolve));
  return {
    process: child,
    end,
    output: () => text,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (part?: Buffer) => {
          text += part?.toString() ?? '';
          const found = pattern.exec(text);
          if (found !== null) resolve(found);
        };
        child.stdout.on('data', look);
        child.stderr.on('data', look);
        void end.then(() => reject(new Error(`ended before ${String(pattern)}: ${text}`)));
      }),
  };
}

/** Runs a command that ends. */
async function output(...args: string[]): Promise<{ code: number; text: string }> {
  const { code, stdout, stderr } = await edgeproof(args, folder);
  return { code, text: stdout + stderr };
}

const SERVE = ['serve', '--port', '0', '--api-port', '0', '--service-name', 'acme'];

async function get(url: string, key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, 'acme-version': '2' };
  return (await fetch(`${url}/api_keys`, { headers })).status;
}

/** Status that the edge answers for a host. */
function statusOf(port: number, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asking = request({ port, host: '127.0.0.1', headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asking.once('error', reject);
    asking.end();
  });
}

describe('serve and keys', () => {
  it('prints an admin key once; keys are created, listed and revoked while it runs', async () => {
    const first = run(...SERVE);
    const [, url, key] = await first.until(/management API (\S+) [\s\S]*shown only once: (\S+)\n/);
    expect(await get(url!, key!)).toBe(200);

    const made = await output('keys', 'create', '--description', 'for a test');
    const token = made.text.split('\n')[0]!;
    expect([made.code, await get(url!, token)]).toEqual([0, 200]);
    const listed = await output('keys', 'list');
    expect(listed.text).toContain('for a test');
    expect(listed.text).not.toContain(token);
    const id = `ak_${token.slice(0, 27)}`;
    const asData = await output('keys', 'list', '-r', 'json');
    const written = { id, owner_id: expect.stringMatching(/^usr_/), description: 'for a test' };
    expect(JSON.parse(asData.text)[0]).toEqual({ ...written, created_at: expect.stringMatching(/^\d{4}-/) });
    expect((await output('keys', 'revoke', id)).text).toBe(`revoked ${id}\n`);
    expect(await get(url!, token)).toBe(403);
    expect((await output('keys', 'revoke', id)).code).toBe(2);
    expect((await output('keys', 'list', '--store', 'nothing.db')).code).toBe(2);

    first.process.kill('SIGTERM');
    expect(await first.end).toBe(0);
    const second = run(...SERVE);
    const [, again] = await second.until(/management API (\S+) [\s\S]*\n\n/);
    expect(second.output()).not.toContain('admin key');
    expect(await get(again!, key!)).toBe(200);
    second.process.kill('SIGTERM');
    expect(await second.end).toBe(0);
    // oxlint-disable-next-line no-bitwise -- permissions are bits
    expect(statSync(join(folder, 'edgeproof.db.key')).mode & 0o777).toBe(0o600);
  });

  it('shows the admin key also if it cannot listen', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as AddressInfo;
    const store = join(folder, 'unheard.db');
    const args = ['--port', '0', '--api-port', String(port), '--strict-port', '--store', store];
    const { code, text } = await output('serve', ...args);
    taken.close();
    expect(code).toBe(4);
    expect(text).toMatch(/admin key, shown only once: \w+_\w+\n/);
  });

  it('uses GeoIP databases and the facts of an applied file', async () => {
    const cidr = parseCidr('127.0.0.0/8');
    if (isCidrProblem(cidr)) throw new Error(cidr.message);
    writeFileSync(join(folder, 'geo.mmdb'), writeMmdb([[cidr, { country: { iso_code: 'DE' } }]]));
    const expressions = ["conn.geo.country_code == 'DE' && conn.client_ip.as.number == 64500"];
    const actions = [{ type: 'deny', config: { status_code: 451 } }];
    const route = {
      match_type: 'path_prefix',
      match: '/',
      backend: { backend_id: 'app' },
      traffic_policy: { value: JSON.stringify({ on_http_request: [{ expressions, actions }] }) },
    };
    const file = {
      service_name: 'acme',
      address_databases: ['data/geo.mmdb'],
      facts: [{ cidr: '127.0.0.0/8', as: { number: 64_500 } }],
      backends: { app: { http_response: { status_code: 200 } } },
      edges: { https: { geo: { hostports: ['geo.test:443'], routes: [route] } } },
    };
    const running = run(...SERVE, '--store', 'geo.db', '--address-database', 'geo.mmdb');
    const ready = /edge (\S+)  management API (\S+) [\s\S]*shown only once: (\S+)\n/;
    const [, edge, url, key] = await running.until(ready);
    const headers = {
      authorization: `Bearer ${key!}`,
      'acme-version': '2',
      'content-type': 'application/json',
    };
    const put = await fetch(`${url!}/edge_file`, { method: 'PUT', headers, body: JSON.stringify(file) });
    const answer = (await put.json()) as { notes: string[] };
    expect([put.status, answer.notes, answer]).toEqual([200, [], answer]);
    expect(await statusOf(Number(new URL(edge!).port), 'geo.test')).toBe(451);
    const exported = await fetch(`${url!}/edge_file`, { headers });
    expect(await exported.json()).toMatchObject({
      document: { address_databases: ['data/geo.mmdb'], facts: file.facts },
    });
    running.process.kill('SIGTERM');
    expect(await running.end).toBe(0);
    expect((await output(...SERVE, '--address-database', 'none.mmdb')).code).toBe(2);
  });

  it('allows edges only the ports and events only the folder of its options', async () => {
    const probe = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => probe.once('listening', resolve));
    const { port } = probe.address() as AddressInfo;
    await new Promise((resolve) => probe.close(resolve));
    const allowed = ['--edge-ports', String(port), '--event-files', 'told'];
    const running = run(...SERVE, '--store', 'ports.db', ...allowed);
    const [, url, key] = await running.until(/management API (\S+) [\s\S]*shown only once: (\S+)\n/);
    const post = async (path: string, body: object): Promise<[number, { id: string }]> => {
      const headers = {
        authorization: `Bearer ${key!}`,
        'acme-version': '2',
        'content-type': 'application/json',
      };
      const response = await fetch(url! + path, { method: 'POST', headers, body: JSON.stringify(body) });
      return [response.status, (await response.json()) as { id: string }];
    };
    const [, { id: backend_id }] = await post('/backends/static', { address: '127.0.0.1:1' });
    const edge = (at: number) => ({ hostports: [`db.test:${at}`], backend: { backend_id } });
    expect((await post('/edges/tcp', edge(22)))[0]).toBe(400);
    expect((await post('/edges/tcp', edge(port + 1)))[0]).toBe(400);
    expect((await post('/edges/tcp', edge(port)))[0]).toBe(201);
    const [status, { id }] = await post('/event_destinations', { target: { file: { name: 'e.ndjson' } } });
    await post('/event_subscriptions', { sources: [{ type: 'vault_created.v0' }], destination_ids: [id] });
    await post('/vaults', { name: 'v' });
    await expect.poll(() => existsSync(join(folder, 'told', id, 'e.ndjson'))).toBe(true);
    const callback_url = 'http://127.0.0.1:9/';
    expect([status, (await post('/event_destinations', { target: { debug: { callback_url } } }))[0]]).toEqual(
      [201, 400],
    );
    running.process.kill('SIGTERM');
    expect(await running.end).toBe(0);
    expect((await output(...SERVE, '--edge-ports', '9-8')).code).not.toBe(0);
  });

  it('refuses a certificate without key and an invalid store', async () => {
    expect((await output(...SERVE, '--tls-cert', 'x.pem')).code).toBe(2);
    expect((await output(...SERVE, '--store', join(folder, 'no', 'x.db'))).code).toBe(2);
  });
});
