import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { stdout } from '../../src/cli/output.ts';
import { X509Certificate } from 'node:crypto';
import { changeStores, trustStores } from '../../src/cli/trust.ts';
import { dataFolder } from '../../src/cli/local_authority.ts';
import { type Running, start } from './command.ts';
import { backend, dial, echo, received } from '../server/tcp/peers.ts';
import { hasProgram } from '../peers.ts';
import { request, secure } from '../server/tls/client.ts';
import { MAIN } from './main_file.ts';

const run = promisify(execFile);
let folder: string;
let running: Running | null = null;
const upstream = createServer((message, response) => {
  response.end(`for ${String(message.headers['service-mtls-subject-cn'])}`);
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'edgeproof-cert-'));
  process.env['EDGEPROOF_HOME'] = join(folder, 'home');
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
});
afterEach(() => {
  running?.process.kill('SIGKILL');
  running = null;
});
afterAll(async () => {
  delete process.env['EDGEPROOF_HOME'];
  upstream.close();
  await rm(folder, { recursive: true, force: true });
});

const edgeproof = async (...args: string[]): Promise<string> =>
  (await run(process.execPath, [MAIN, ...args], { cwd: folder })).stdout;

describe('edgeproof cert and trust', () => {
  it('create an authority once, with a key that only its owner can read, and issue its certificates', async () => {
    await edgeproof('cert', '*.shop.test');
    const said = await edgeproof('cert', '--client', 'robot', '--email', 'robot@shop.test');
    expect(said).toContain('mutual_tls: {certificate_authority_ids: [local]}');
    const home = join(folder, 'home');
    const authority = new X509Certificate(await readFile(join(home, 'authority.pem')));
    expect(authority.ca).toBe(true);
    for (const key of [join(home, 'authority-key.pem'), join(folder, 'robot-client-key.pem')]) {
      expect((await stat(key)).mode & 0o077).toBe(0);
    }
    const server = new X509Certificate(await readFile(join(folder, '_.shop.test.pem')));
    const client = new X509Certificate(await readFile(join(folder, 'robot-client.pem')));
    for (const each of [server, client]) {
      expect(each.verify(authority.publicKey)).toBe(true);
      expect(each.checkIssued(authority)).toBe(true);
    }
    expect(server.checkHost('a.shop.test')).toBe('*.shop.test');
    expect(server.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(client.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
    expect(client.subjectAltName).toBe('email:robot@shop.test');
    await chmod(join(folder, 'robot-client-key.pem'), 0o644);
    await edgeproof('cert', '--client', 'robot', '--email', 'robot@shop.test', '--force');
    expect((await stat(join(folder, 'robot-client-key.pem'))).mode & 0o077).toBe(0);
    // Nothing is overwritten.
    await expect(edgeproof('cert', '--client', 'robot')).rejects.toThrow(/--force/);
  });

  it.each([
    'nope',
    'a@',
    '@a.test',
    'a b@c.test',
    'a@b..test',
    'a@b.test.',
    'a.@b.test',
    'ä@b.test',
    'a@b@c.test',
    'a@-b',
    'a@b\n',
  ])('refuse %j as an e-mail address', (email) =>
    expect(edgeproof('cert', '--client', 'nobody', '--email', email)).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('expected an e-mail address in ASCII, such as ann@app.test.'),
    }),
  );

  it('take e-mail addresses of client certificates only, also with several', async () => {
    await edgeproof(
      'cert',
      '--client',
      'two',
      '--email',
      'neil+a.b@x-1.shop.test',
      '--email',
      'root@localhost',
    );
    const two = new X509Certificate(await readFile(join(folder, 'two-client.pem')));
    expect(two.subjectAltName).toBe('email:neil+a.b@x-1.shop.test, email:root@localhost');
    await expect(edgeproof('cert', 'shop.test', '--email', 'a@b.test')).rejects.toMatchObject({ code: 2 });
  });

  it.skipIf(!hasProgram('openssl', ['version'], 'PKCS #12 for browsers'))(
    'write PKCS #12 for browsers',
    async () => {
      await edgeproof('cert', '--client', 'browser', '--p12', 'secret');
      const { stdout: listed } = await run(
        'openssl',
        ['pkcs12', '-in', join(folder, 'browser-client.p12'), '-passin', 'pass:secret', '-nokeys'],
        { encoding: 'utf8' },
      );
      expect(listed).toMatch(/subject=.*browser/);
    },
  );

  it('do not create an authority in order to remove it, and remove one that cannot be used', async () => {
    const home = join(folder, 'none');
    const uninstall = async () =>
      run(process.execPath, [MAIN, 'trust', '--uninstall', '--print'], {
        env: { ...process.env, EDGEPROOF_HOME: home },
      });
    expect((await uninstall()).stdout).toContain(
      `There is no local authority: ${join(home, 'authority.pem')} does not exist.\n`,
    );
    await expect(stat(home)).rejects.toThrow('ENOENT');
    await mkdir(home);
    for (const name of ['authority.pem', 'authority-key.pem']) await writeFile(join(home, name), 'damaged');
    expect((await uninstall()).stdout).toContain(`The local authority: ${join(home, 'authority.pem')}\n`);
  });

  it('print the commands to trust it, and change nothing with --print', async () => {
    const said = await edgeproof('trust', '--print');
    expect(said).toContain(join(folder, 'home', 'authority.pem'));
    expect(said).toContain('NODE_EXTRA_CA_CERTS=');
    expect(await edgeproof('trust', '--print', '--uninstall')).not.toContain('NODE_EXTRA_CA_CERTS=');
    const debian = {
      platform: 'linux' as const,
      home: '/home/a',
      exists: (path: string) => path === '/usr/local/share/ca-certificates' || path === '/home/a/.pki/nssdb',
      has: () => true,
    };
    expect(trustStores('/x/a.pem', debian, false)).toEqual([
      {
        name: 'the system store (/usr/local/share/ca-certificates)',
        commands: [
          [
            'sudo',
            'install',
            '-m',
            '644',
            '/x/a.pem',
            '/usr/local/share/ca-certificates/edgeproof-local-authority.crt',
          ],
          ['sudo', 'update-ca-certificates'],
        ],
      },
      {
        name: 'browsers of this user (NSS)',
        commands: [
          [
            'certutil',
            '-d',
            'sql:/home/a/.pki/nssdb',
            '-A',
            '-t',
            'C,,',
            '-n',
            'edgeproof-local-authority',
            '-i',
            '/x/a.pem',
          ],
        ],
      },
    ]);
    expect(trustStores('/x/a.pem', debian, true)[0]!.commands[0]).toContain('rm');
    expect(trustStores('/x/a.pem', { ...debian, platform: 'darwin' }, false)[0]!.commands[0]).toContain(
      'security',
    );
    expect(trustStores('/x/a.pem', { ...debian, exists: () => false }, false)).toEqual([]);
    expect(dataFolder({ XDG_DATA_HOME: '/d' }, 'linux')).toBe('/d/edgeproof');
  });
});

it('commands that fail end trust with 4, and are named', () => {
  let printed = '';
  const spy = vi.spyOn(stdout, 'write').mockImplementation((text) => {
    printed += text;
    return true;
  });
  const store = (...commands: readonly string[][]) => ({ name: 'a store', commands });
  const node = (code: number) => [process.execPath, '-e', `process.exit(${code})`];
  const codes = [
    changeStores([store(node(0))]),
    changeStores([store(node(0), node(1)), store(node(0))]),
    changeStores([store(['no-such-program'])]),
  ];
  spy.mockRestore();
  expect(codes).toEqual([0, 4, 4]);
  expect(printed).toContain('failed: exit code 1');
  expect(printed).toMatch(/run them yourself:\n.*no-such-program\n$/);
});

describe('edgeproof dev with TLS and TCP', () => {
  it('listens for all of them, with certificates of the local authority and from files', async () => {
    await edgeproof('cert', '--client', 'tester', '--force');
    const db = await backend(echo);
    const home = join(folder, 'home');
    await writeFile(
      join(folder, 'edge.yaml'),
      `
backends:
  app: { static: { address: "127.0.0.1:${(upstream.address() as AddressInfo).port}" } }
  db: { static: { address: "${db.address}" } }
certificate_authorities: { local: { ca_file: home/authority.pem } }
edges:
  https:
    shop:
      hostports: ["shop.test:443"]
      mutual_tls: { certificate_authority_ids: [local] }
      routes: [{ match_type: path_prefix, match: /, backend: { backend_id: app } }]
  tcp:
    pg: { hostports: ["1.tcp.test:5432"], backend: { backend_id: db } }
`,
    );
    const places = ['--port', '0', '--tls-port', '0', '--edge-port', '1.tcp.test:5432=0'];
    running = start(['dev', 'edge.yaml', ...places, '--events', 'events.ndjson'], folder);
    const [, tlsPort] = await running.waitFor(/https:\/\/shop\.test\.localhost:(\d+)\//);
    const [, tcpPort] = await running.waitFor(/tcp:\/\/127\.0\.0\.1:(\d+)/);
    const pem = async (name: string) => readFile(join(folder, name), 'utf8');
    const options = {
      port: Number(tlsPort),
      servername: 'shop.test',
      ca: await readFile(join(home, 'authority.pem')),
      cert: await pem('tester-client.pem'),
      key: await pem('tester-client-key.pem'),
    };
    const { status, text } = await request(await secure(options), 'GET / HTTP/1.1\r\nHost: shop.test');
    expect({ status, isFor: text.includes('for tester') }).toEqual({ status: 200, isFor: true });
    const client = await dial(Number(tcpPort));
    client.end('hello');
    expect((await received(client)).toString()).toBe('hello');
    await running.waitFor(/TCP .* allow .*1\.tcp\.test:5432 {2}in 5 out 5/);
    running.process.kill('SIGTERM');
    await once(running.process, 'exit');
    const events = (await readFile(join(folder, 'events.ndjson'), 'utf8')).trim().split('\n');
    const types = events.map((line) => (JSON.parse(line) as { event_type: string }).event_type);
    expect(types).toEqual(['http_request_complete.v0', 'tcp_connection_closed.v0']);
    await db.close();
  }, 30_000);

  it('reports an invalid certificate file and the place that names it', async () => {
    await writeFile(
      join(folder, 'broken.yaml'),
      'certificate_authorities:\n  a: { ca_file: gone.pem }\nedges: { https: { a: { hostports: ["a.test:443"], mutual_tls: { certificate_authority_ids: [a] } } } }\n',
    );
    const failed = (await edgeproof('check', 'broken.yaml').catch((error: unknown) => error)) as {
      stdout: string;
      stderr: string;
    };
    expect(failed.stdout + failed.stderr).toMatch(
      /broken\.yaml:2:\d+ error edge\.bad_certificate gone\.pem: there is no such file/,
    );
  });
});
