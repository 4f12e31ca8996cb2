import { type Server, createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hasProgram } from '../../peers.ts';
import { type Edge, type Listening, createEdge } from '../../../src/edgeproof.ts';
import { onePolicy } from '../../one_route.ts';

/**
 * How a lenient server derives a path from a target: decoded twice, without parameters, letter case and trailing dots.
 */
function placeOf(target: string): string {
  const once_ = (text: string) =>
    text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  const path = once_(once_(target.split('?')[0]!))
    .replaceAll(/;[^/\\]*/g, '')
    .replaceAll('\\', '/')
    .split('\0')[0]!;
  const kept: string[] = [];
  for (const segment of path.toLowerCase().split('/')) {
    if (segment === '..') kept.pop();
    else if (segment.replace(/[. ]+$/, '') !== '') kept.push(segment.replace(/[. ]+$/, ''));
  }
  return `/${kept.join('/')}`;
}

const denyAdmin = (expression: string) =>
  onePolicy({
    on_http_request: [{ name: 'no admin', expressions: [expression], actions: [{ type: 'deny' }] }],
  });

let upstream: Server;
let reached: string[] = [];
let live: { readonly edge: Edge; readonly listening: Listening } | null = null;

beforeAll(async () => {
  upstream = createServer((request, response) => {
    reached.push(request.url!);
    response.end('reached');
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
});
afterAll(() => upstream.close());
afterEach(async () => {
  await live?.listening.close(0);
  live = null;
  reached = [];
});

async function before(config: object, port = (upstream.address() as AddressInfo).port): Promise<number> {
  const edge = createEdge(
    { ...config, backends: { app: { static: { address: `127.0.0.1:${port}` } } } },
    { adoptHosts: 'any' },
  );
  live = { edge, listening: await edge.listen() };
  return live.listening.port;
}

/** The status for a target that is sent byte for byte. */
async function statusOf(port: number, target: string): Promise<number> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`GET ${target} HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n`);
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]);
}

const SPELLINGS = [
  '/policy/admin',
  '/policy//admin',
  '/policy/./admin',
  '/policy/x/../admin',
  '/policy/%61dmin',
  '/policy/%2fadmin',
  '/policy%2fadmin',
  '/policy%2Fadmin',
  '/policy%252fadmin',
  '/policy%25252fadmin',
  '/policy%5cadmin',
  '/policy%255cadmin',
  '/policy;/admin',
  '/policy;a=1/admin',
  '/policy;a=1/;b/admin',
  '/policy/;/admin',
  '/policy%3b/admin',
  '/policy%3bx%2fadmin',
  '/policy/Admin',
  '/POLICY/ADMIN',
  '/Policy;x/%2fADMIN',
  '/policy/admin.',
  '/policy./admin',
  '/policy/admin%20',
  '/policy/admin;x',
  '/policy/admin/',
  '/policy/%2561dmin',
  '/policy/%252e%252e/policy/admin',
  '/x%252f..%252fpolicy/admin',
  '/policy/admin%2500.png',
  '/policy\\admin',
  '/policy/ad\0min',
  '/policy/%00admin',
];

describe('a rule that denies by the path', () => {
  it.each([
    ['startsWith', "req.url.path.startsWith('/policy/admin')"],
    ['==', "req.url.path == '/policy/admin'"],
    ['in', "req.url.path in ['/policy/admin', '/other']"],
    ['matches', "req.url.path.matches('^/policy/admin($|/)')"],
    ['contains', "req.url.path.contains('/admin')"],
    ['split', "req.url.path.split('/').size() > 2 && req.url.path.split('/')[2] == 'admin'"],
    ['a loop', "['/x', '/policy/admin'].exists(p, req.url.path.startsWith(p) && req.method == 'GET')"],
    ['a name', "cel.bind(p, req.url.path, p == '/policy/admin')"],
    ['capitals of its own', "req.url.path.startsWith('/Policy/Admin')"],
    ['the URL', "req.url.raw.endsWith('/policy/admin') || req.url.uri == '/policy/admin'"],
    ['the sent path', "req.url.raw_path == '/policy/admin'"],
    [
      'another alternative as written',
      "req.url.path.startsWith('/policy/admin') || req.url.path.matches('^/u/[A-Z]+$')",
    ],
    ['an allow list', "!(req.url.path in ['/policy/open', '/']) && !req.url.path.startsWith('/Pictures/')"],
  ])('applies to every spelling that a lenient server accepts: %s', async (_, expression) => {
    const port = await before(denyAdmin(expression));
    for (const target of SPELLINGS) {
      const status = await statusOf(port, target);
      expect([target, status]).toEqual([target, expect.toSatisfy((each) => each === 403 || each === 400)]);
    }
    expect(reached.filter((target) => placeOf(target) === '/policy/admin')).toEqual([]);
    expect(await statusOf(port, '/Pictures/A%2Fb;v=1.JPG')).toBe(200);
    expect(await statusOf(port, '/policy/open')).toBe(200);
  });

  it('does not apply to other paths', async () => {
    const port = await before(denyAdmin("req.url.path.startsWith('/policy/admin')"));
    for (const target of ['/a%2Fb', '/@scope%2fname', '/policy;v=1/x', '/README.md', '/a%20b', '/policy/Adm'])
      expect([target, await statusOf(port, target)]).toEqual([target, 200]);
    expect(reached).toContain('/a%2Fb');
  });

  it('uses the path after a rewrite', async () => {
    const rewrite = { actions: [{ type: 'url-rewrite', config: { from: '/v1/(.*)', to: '/$1' } }] };
    const deny = { expressions: ["req.url.path.startsWith('/policy/admin')"], actions: [{ type: 'deny' }] };
    const port = await before(onePolicy({ on_http_request: [rewrite, deny] }));
    for (const target of ['/v1/policy/admin', '/v1/policy%2Fadmin', '/v1/Policy/;x/admin'])
      expect([target, await statusOf(port, target)]).toEqual([target, 403]);
    expect(await statusOf(port, '/v1/open')).toBe(200);
    expect(reached).toEqual(['/open']);
  });

  it('asks for a password for every spelling, and accepts the right one', async () => {
    const guard = {
      expressions: ["req.url.path.startsWith('/policy/admin')"],
      actions: [{ type: 'basic-auth', config: { credentials: ['ann:long-secret'] } }],
    };
    const port = await before(onePolicy({ on_http_request: [guard] }));
    expect(await statusOf(port, '/policy%2FAdmin')).toBe(401);
    const authorization = `Basic ${Buffer.from('ann:long-secret').toString('base64')}`;
    const response = await fetch(`http://127.0.0.1:${port}/policy%2FAdmin`, { headers: { authorization } });
    expect(response.status).toBe(200);
  });

  it('is found by an index of many rules, too', async () => {
    const rules = Array.from({ length: 40 }, (_, at) => ({
      expressions: [`req.url.path.startsWith('/r${at}/Admin')`],
      actions: [{ type: 'deny' }],
    }));
    const port = await before(onePolicy({ on_http_request: rules }));
    for (const target of ['/r7/Admin', '/r7/admin', '/R7%2fADMIN', '/r39;/admin'])
      expect([target, await statusOf(port, target)]).toEqual([target, 403]);
    expect(await statusOf(port, '/r7/x')).toBe(200);
  });

  it('is used as written if it distinguishes spellings', async () => {
    const capitals = await before(denyAdmin("req.url.path.matches('[A-Z]')"));
    expect(await statusOf(capitals, '/policy/admin')).toBe(200);
    expect(await statusOf(capitals, '/policy/Admin')).toBe(403);
  });

  it('is used as written in the alternative that distinguishes spellings', async () => {
    const port = await before(
      denyAdmin(
        "(req.url.path == '/policy/admin' || req.url.path.matches('^/u/[A-Z]+$')) && req.method == 'GET'",
      ),
    );
    expect(await statusOf(port, '/u/abc')).toBe(200);
    expect(await statusOf(port, '/u/%41bc;')).toBe(200);
    expect(await statusOf(port, '/u/ABC')).toBe(403);
    expect(await statusOf(port, '/policy;/ADMIN')).toBe(403);
  });

  it('reports the reading that made it apply', async () => {
    await before(denyAdmin("req.url.path.startsWith('/policy/admin')"));
    const { exchange } = live!.edge.decide({ url: 'http://shop.test/policy;x/Admin' });
    const steps = exchange.verdicts.flatMap((verdict) => verdict?.inner ?? []);
    expect(steps[0]).toMatchObject({ code: 'rule.applied', detail: { reading: '/policy/admin' } });
  });
});

/** Directories that nginx writes to; the default ones may not exist. */
const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

const hasNginx = hasProgram('nginx', ['-v'], 'nginx behind a rule');

describe.skipIf(!hasNginx)('nginx behind a rule', () => {
  it('is not reached at the denied path', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'nginx-'));
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const { port: inner } = free.address() as AddressInfo;
    await new Promise((resolve) => free.close(resolve));
    writeFileSync(
      join(folder, 'nginx.conf'),
      `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {}
       http { access_log off; ${TEMPORARY.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')} server { listen 127.0.0.1:${inner};
         location ~* "^/policy;?/admin" { return 200 secret; } location / { return 200 open; } } }`,
    );
    const nginx = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')]);
    try {
      const port = await before(denyAdmin("req.url.path.startsWith('/policy/admin')"), inner);
      await expect.poll(() => statusOf(port, '/open')).toBe(200);
      for (const target of SPELLINGS) {
        const status = await statusOf(port, target);
        expect([target, status === 403 || status === 400]).toEqual([target, true]);
      }
    } finally {
      nginx.kill();
      if (nginx.exitCode === null) await once(nginx, 'exit');
      rmSync(folder, { recursive: true });
    }
  });
});
