import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { type Server, createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SERVER, testAuthority } from '../server/tls/authority.ts';
import { type Running, start } from './command.ts';

let upstream: Server;
let folder: string;
let running: Running | null = null;
/** Resolves the next request to `/slow`. */
let release: () => void = () => {};

beforeAll(async () => {
  upstream = createServer((request, response) => {
    if (request.url === '/slow') release = () => response.end('slow');
    else response.end(`seen ${String(request.headers['x-revision'])}`);
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
});
afterAll(() => upstream.close());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'edgeproof-dev-'));
});
afterEach(async () => {
  running?.process.kill('SIGKILL');
  running = null;
  await rm(folder, { recursive: true, force: true });
});

const edgeFile = (revision: string) => `
backends: { app: { static: { address: "127.0.0.1:${(upstream.address() as AddressInfo).port}" } } }
edges:
  https:
    shop:
      hostports: ["shop.test:443"]
      routes:
        - match_type: path_prefix
          match: /
          request_headers: { add: { x-revision: "${revision}" } }
          backend: { backend_id: app }
`;

async function dev(...args: string[]): Promise<{ running: Running; url: string }> {
  await writeFile(join(folder, 'edge.yaml'), edgeFile('one'));
  running = start(['dev', 'edge.yaml', '--port', '0', '--events', 'events.ndjson', ...args], folder);
  const [, url] = await running.waitFor(/ready in \d+ ms {2}(http:\S+)/);
  return { running, url: url! };
}

const get = async (url: string) => (await fetch(url)).text();

describe('edgeproof dev', () => {
  it('serves, prints a line and writes one event for each request', async () => {
    const { running: edge, url } = await dev();
    expect(await get(`${url}/hello?a=b`)).toBe('seen one');
    expect(await get(url)).toBe('seen one');
    await edge.waitFor(/GET +200 .* allow .*\/hello\?a=b +→ app/);
    expect(await edge.stop('SIGTERM')).toBe(0);
    const events = (await readFile(join(folder, 'events.ndjson'), 'utf8')).trim().split('\n');
    expect(events).toHaveLength(2);
    const event = JSON.parse(events[0]!) as {
      event_type: string;
      object: { http: { request: { url: object } } };
    };
    expect(event.event_type).toBe('http_request_complete.v0');
    expect(event.object.http.request.url).toMatchObject({ path: '/hello', query: 'a=b', scheme: 'http' });
  });

  it('reloads a saved file at once, and keeps the last valid one when the new one has errors', async () => {
    const { running: edge, url } = await dev();
    expect(await get(url)).toBe('seen one');
    // Like editors: a new file replaces the old one.
    await writeFile(join(folder, 'new.yaml'), edgeFile('two'));
    await rename(join(folder, 'new.yaml'), join(folder, 'edge.yaml'));
    await edge.waitFor(/revision 2 is live/);
    expect(await get(url)).toBe('seen two');
    await writeFile(
      join(folder, 'edge.yaml'),
      edgeFile('three').replace('backend_id: app', 'backend_id: ap'),
    );
    await edge.waitFor(/did you mean 'app'\?[\s\S]*still serving revision 2/);
    expect(await get(url)).toBe('seen two');
    await writeFile(join(folder, 'edge.yaml'), edgeFile('four'));
    await edge.waitFor(/revision 3 is live/);
    expect(await get(url)).toBe('seen four');
  });

  it('reloads when a policy or an included file changes, also one that was missing', async () => {
    const including = edgeFile('one').replace(/^/, 'include: "parts/*.yaml"\n');
    const named = including.replace(
      'request_headers:',
      'traffic_policy: { file: policy.yml }\n          request_headers:',
    );
    const policy = (status: number) =>
      `on_http_request: [{ actions: [{ type: deny, config: { status_code: ${status} } }] }]\n`;
    await mkdir(join(folder, 'parts'), { recursive: true });
    await writeFile(join(folder, 'parts/a.yaml'), 'ip_policies: { office: { rules: [] } }\n');
    await writeFile(join(folder, 'policy.yml'), policy(418));
    const { running: edge, url } = await dev();
    await writeFile(join(folder, 'edge.yaml'), named);
    await edge.waitFor(/revision 2 is live/);
    expect((await fetch(url)).status).toBe(418);
    await writeFile(join(folder, 'policy.yml'), policy(451));
    await edge.waitFor(/policy\.yml changed: revision 3 is live/);
    expect((await fetch(url)).status).toBe(451);
    await rm(join(folder, 'policy.yml'));
    await edge.waitFor(/policy\.yml was deleted: still serving revision 3/);
    await writeFile(join(folder, 'policy.yml'), policy(451));
    await writeFile(join(folder, 'parts/a.yaml'), 'ip_policies: { office: { rule: [] } }\n');
    await edge.waitFor(/parts\/a\.yaml:1:26 error[\s\S]*still serving revision 3/);
    await writeFile(join(folder, 'parts/a.yaml'), 'ip_policies: { office: { rules: [] } }\n');
    await edge.waitFor(/revision 4 is live/);
    // A new file may match the pattern.
    await writeFile(
      join(folder, 'parts/b.yaml'),
      'backends: { app: { http_response: { status_code: 200 } } }\n',
    );
    await edge.waitFor(/edge\.duplicate_definition[\s\S]*still serving revision 4/);
    await rm(join(folder, 'parts/b.yaml'));
    await edge.waitFor(/revision 5 is live/);
  });

  it('takes a renewed certificate once its key is there, too, and keeps the former one until then', async () => {
    const authority = testAuthority('renewals');
    const write = async (name: string, text: string) => writeFile(join(folder, name), text);
    const [former, renewed] = [1, 2].map(() => authority.issue('shop.test', SERVER('shop.test')));
    await write('cert.pem', former!.cert);
    await write('key.pem', former!.key);
    const { running: edge } = await dev();
    const files = 'tls_certificates: { own: { certificate_file: cert.pem, private_key_file: key.pem } }\n';
    await write('edge.yaml', files + edgeFile('two'));
    await edge.waitFor(/revision 2 is live/);
    await write('cert.pem', renewed!.cert);
    await edge.waitFor(/not the private key of the certificate[\s\S]*still serving revision 2/);
    await write('key.pem', renewed!.key);
    await edge.waitFor(/key\.pem changed: revision 3 is live/);
  });

  it('finishes requests in flight on a signal, and accepts no more', async () => {
    const { running: edge, url } = await dev();
    const slow = get(`${url}/slow`);
    const arrived = release;
    while (release === arrived) await new Promise((resolve) => setImmediate(resolve));
    const stopped = edge.stop('SIGTERM');
    await edge.waitFor(/draining/);
    const refused = connect(Number(new URL(url).port), '127.0.0.1');
    await once(refused, 'error');
    release();
    expect(await slow).toBe('slow');
    expect(await stopped).toBe(0);
  });

  it('takes the next free port, or fails with --strict-port', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    await writeFile(join(folder, 'edge.yaml'), edgeFile('one'));
    const strict = start(['dev', 'edge.yaml', '--port', String(port), '--strict-port'], folder);
    expect(await new Promise((resolve) => strict.process.once('exit', resolve))).toBe(4);
    running = start(['dev', 'edge.yaml', '--port', String(port)], folder);
    await running.waitFor(new RegExp(`port ${port} is in use`));
    taken.close();
  });

  it('refuses a file with errors, with its findings and exit code 3', async () => {
    await writeFile(join(folder, 'edge.yaml'), 'edges: { htps: {} }\n');
    const broken = start(['dev', 'edge.yaml'], folder);
    expect(await new Promise((resolve) => broken.process.once('close', resolve))).toBe(3);
    expect(broken.output()).toContain("did you mean 'https'?");
  });
});
