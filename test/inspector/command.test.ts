import { request } from 'node:http';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { DraftAnswer } from '../../src/inspector/wire_editing.ts';
import { edgeproof, start } from '../cli/command.ts';
import { folderWith } from '../folder.ts';

const folder = folderWith();
writeFileSync(
  join(folder, 'edge.yaml'),
  `backends: { app: { http_response: { status_code: 200, body: fine } } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes: [{ match_type: path_prefix, match: /, backend: { backend_id: app } }]
`,
);
const INSPECTOR = /inspector +(http:\/\/127\.0\.0\.1:\d+\/)#token=(\w{40})\n/;
const DEV = ['dev', 'edge.yaml', '--port', '0', '--no-tls', '--no-watch'];
/** A drain that no test waits for. */
const LONG = ['--drain', '10m'];

async function started(args: readonly string[], until = INSPECTOR) {
  const running = start(args, folder);
  onTestFinished(() => void running.process.kill('SIGKILL'));
  return { running, found: await running.waitFor(until) };
}

function hello(url: string, token: string): Promise<Response> {
  return fetch(`${url}api/hello`, { headers: { authorization: `Bearer ${token}` } });
}

test('the ready screen has the URL with the token; without the token there is no data', async () => {
  const { found } = await started([...DEV, '--inspector', '0']);
  const [, url, token] = found;
  expect(await (await fetch(url!)).text()).toContain('<script');
  expect((await hello(url!, 'x')).status).toBe(401);
  expect(await (await hello(url!, token!)).json()).toMatchObject({
    verb: 'dev',
    can: { resend: true, files: true, draft: true, format: true },
  });
});

test('Ctrl-C with an open feed ends at once, and the feed says so', async () => {
  const { running, found } = await started([...DEV, ...LONG, '--inspector', '0']);
  const [, url, token] = found;
  const feed = request(`${url!}api/feed`, { headers: { authorization: `Bearer ${token!}` }, agent: false });
  let text = '';
  const codes: Promise<number | null>[] = [];
  const over = new Promise<void>((resolve, reject) => {
    feed.once('error', reject).once('response', (response) => {
      response.setEncoding('utf8').on('data', (piece: string) => {
        if (text === '') codes.push(running.stop('SIGINT'));
        text += piece;
      });
      response.once('close', resolve);
    });
  });
  feed.end();
  // A row makes the feed say something.
  const [, edgeUrl] = await running.waitFor(/ready in \d+ ms +(http:\S+)/);
  await (await fetch(edgeUrl!, { headers: { connection: 'close' } })).text();
  await over;
  const began = performance.now();
  expect(await Promise.all(codes)).toEqual([0]);
  expect(performance.now() - began).toBeLessThan(1_000);
  expect(text).toContain('"type":"end"');
});

test('--no-inspector starts none, and --workers is refused together with --inspector', async () => {
  const { running } = await started([...DEV, '--no-inspector'], /ready in/);
  const [, edgeUrl] = await running.waitFor(/ready in \d+ ms +(http:\S+)/);
  const { headers } = await fetch(`${edgeUrl!}/nothing`);
  expect(headers.get('edgeproof-inspector')).toBeNull();
  expect(await running.stop('SIGTERM')).toBe(0);
  expect(running.output()).not.toContain('inspector');
  const refused = await edgeproof([...DEV, '--workers', '2', '--inspector'], folder);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('--workers cannot be combined with');
  expect(refused.stderr).toContain('--inspector');
});

test('serve has one only if asked; a restriction of the type dashboard applies to it', async () => {
  const serve = ['serve', '--port', '0', '--api-port', '0', '--store', 'own.db'];
  const { running, found } = await started([...serve, '--inspector', '0']);
  const [, url, token] = found;
  const [, apiUrl, key] = await running.waitFor(/management API (\S+)[^]*admin key, shown only once: (\S+)/);
  expect(await (await hello(url!, token!)).json()).toMatchObject({ verb: 'serve', can: { files: false } });
  const make = async (path: string, body: object): Promise<string> => {
    const made = await fetch(`${apiUrl!}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key!}`,
        'content-type': 'application/json',
        'service-version': '2',
      },
      body: JSON.stringify(body),
    });
    expect(made.status).toBe(201);
    return ((await made.json()) as { id: string }).id;
  };
  const policy = await make('/ip_policies', {});
  await make('/ip_policy_rules', { ip_policy_id: policy, cidr: '192.0.2.0/24', action: 'allow' });
  await make('/ip_restrictions', { type: 'dashboard', enforced: true, ip_policy_ids: [policy] });
  expect((await hello(url!, token!)).status).toBe(403);
  expect((await fetch(url!)).status).toBe(403);
  expect(await running.stop('SIGTERM')).toBe(0);
  const without = await started(serve, /store own\.db\n/);
  await without.running.stop('SIGTERM');
  expect(without.running.output()).not.toContain('inspector');
});

const POLICY = `on_http_request:
  - name: admin
    expressions: ["req.url.path.startsWith('/admin')"]
    actions: [{ type: deny, config: { status_code: 403 } }]
`;
const PRODUCTION = `tls_certificates: { shop: { certificate_file: missing.pem, private_key_file: missing.key } }
backends: { app: { static: { address: app.internal.test:80 } } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - match_type: path_prefix
          match: /
          backend: { backend_id: app }
          traffic_policy: { file: policy.yaml }
`;
writeFileSync(join(folder, 'policy.yaml'), POLICY);
writeFileSync(join(folder, 'production.yaml'), PRODUCTION);

test.each([
  ['http', ['http', '1', '--policy', 'policy.yaml']],
  ['dev with a file of production', ['dev', 'production.yaml', '--backend', 'app=1']],
])(
  'a thread decides drafts of the files of %s',
  async (_verb, args) => {
    const { running, found } = await started([
      ...args,
      '--port',
      '0',
      '--no-tls',
      '--no-watch',
      '--inspector',
      '0',
    ]);
    const [, url, token] = found;
    const [, edgeUrl] = await running.waitFor(/ready in \d+ ms +(http:\S+)/);
    await fetch(`${edgeUrl!}/admin`, { headers: { host: 'shop.test' } });
    const draftOf = async (policy: string) => {
      const asked = await fetch(`${url!}api/draft`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token!}`, 'content-type': 'application/json' },
        body: JSON.stringify({ texts: { 'policy.yaml': policy } }),
      });
      return (await asked.json()) as DraftAnswer;
    };
    const opened = await draftOf(POLICY.replace('/admin', '/other'));
    expect(opened).toMatchObject({
      diagnostics: [],
      decided: true,
      counts: { looked: 1, changed: 1, unknown: 0 },
    });
    expect(opened.changed[0]).toMatchObject({
      before: { status: 403, place: { file: 'policy.yaml', line: 4 } },
      after: { verdict: 'pass', backend: 'app' },
    });
    expect((await draftOf(POLICY)).counts).toMatchObject({ alike: 1, changed: 0 });
    const broken = await draftOf(POLICY.replace('deny', 'denny'));
    expect(broken).toMatchObject({
      decided: false,
      diagnostics: [{ file: 'policy.yaml', range: { start: { line: 4 } } }],
    });
  },
  120_000,
);
