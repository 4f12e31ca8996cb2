import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Running, start } from '../cli/command.ts';

let folder: string;
let running: Running | null = null;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'edgeproof-idp-'));
});
afterEach(async () => {
  running?.process.kill('SIGKILL');
  running = null;
  await rm(folder, { recursive: true, force: true });
});

const EDGE = `
backends: { app: { static: { address: "127.0.0.1:9" } } }
edges:
  https:
    shop:
      hostports: ["shop.localhost:443"]
      routes:
        - match_type: path_prefix
          match: /
          oauth: { provider: { github: { organizations: [acme] } } }
          backend: { backend_id: app }
`;

it('dev starts the provider that replaces the managed app, and reports it', async () => {
  await writeFile(join(folder, 'edge.yaml'), EDGE);
  await writeFile(join(folder, 'who.yaml'), 'identities: { ann: { organizations: [acme] }, ben: {} }\n');
  running = start(['dev', 'edge.yaml', '--port', '0', '--identities', 'who.yaml'], folder);
  const [, url] = await running.waitFor(/ready in \d+ ms {2}(http:\S+)/);
  const [, provider] = await running.waitFor(
    /development identity provider {2}(http:\/\/127\.0\.0\.1:\d+) {2}log in as ann, ben/,
  );
  await running.waitFor(/replaces the managed OAuth app of the service, for development only/);
  const begun = await fetch(`${url!}/x`, { redirect: 'manual', headers: { accept: 'text/html' } });
  expect(begun.status).toBe(302);
  expect(begun.headers.get('location')).toContain(`${provider!}/as/github.com/login/oauth/authorize?`);
  const page = await (await fetch(begun.headers.get('location')!)).text();
  expect(page).toContain('Development identity provider');
  expect(page).toContain('Log in as <b>ben</b>');
});

it('dev reports problems of an identities file', async () => {
  await writeFile(join(folder, 'edge.yaml'), EDGE);
  await writeFile(join(folder, 'who.yaml'), 'identities: { ann: { misbehave: often } }\n');
  running = start(['dev', 'edge.yaml', '--port', '0', '--identities', 'who.yaml'], folder);
  await running.waitFor(/who\.yaml: ann: 'often' has to be one of denied, expired/);
});
