import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packed } from '../built.ts';
import { folderWith } from '../folder.ts';
import { skipped } from '../peers.ts';
import { IS_FULL } from '../random.ts';
import { startProgram } from '../running.ts';

/** What each kind of user does first, with the packed tarball in an empty folder, with the oldest and the newest Node. */
const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const NODES = {
  'Node 26': join(root, 'node_modules/.bin/node'),
  'Node 24': join(root, 'peers/node_modules/.bin/node'),
};

let tarball: string;
beforeAll(async () => {
  if (!IS_FULL) return;
  tarball = await packed();
});

/** A folder in which a user has installed the tarball. */
class Desk {
  readonly folder = folderWith({ 'package.json': '{ "private": true, "type": "module" }\n' });
  readonly #env: Readonly<Record<string, string>>;
  readonly #node: string;

  constructor(node: string) {
    this.#node = node;
    // The command begins with `#!/usr/bin/env node`.
    const path = `${dirname(node)}${delimiter}${process.env['PATH']}`;
    this.#env = { PATH: path, XDG_DATA_HOME: this.folder, XDG_CONFIG_HOME: this.folder, CI: '' };
  }

  async install(): Promise<this> {
    const args = ['install', '--no-audit', '--no-fund', '--prefer-offline', tarball];
    await run('npm', args, { cwd: this.folder });
    return this;
  }

  edgeproof(args: string, more: Readonly<Record<string, string>> = {}) {
    return this.#run(join(this.folder, 'node_modules/.bin/edgeproof'), args.split(' '), more);
  }

  node(...args: readonly string[]) {
    return this.#run(this.#node, args, {});
  }

  start(args: string) {
    const program = join(this.folder, 'node_modules/.bin/edgeproof');
    return startProgram(program, args.split(' '), this.folder, this.#env);
  }

  write(name: string, text: string): Promise<void> {
    return writeFile(join(this.folder, name), text);
  }

  read(name: string): Promise<string> {
    return readFile(join(this.folder, name), 'utf8');
  }

  #run(program: string, args: readonly string[], more: Readonly<Record<string, string>>) {
    const env = { ...process.env, NO_COLOR: '1', VITEST: undefined, ...this.#env, ...more };
    return new Promise<{ readonly code: number; readonly out: string }>((resolve) => {
      execFile(program, args, { cwd: this.folder, env }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), out: stdout + stderr }),
      );
    });
  }
}

const edgeTo = (port: number, answer = 'ok') => `backends:
  app: { static: { address: '127.0.0.1:${port}' } }
  here: { http_response: { status_code: 200, body: "${answer}\\n" } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
      routes:
        - { match_type: path_prefix, match: /, backend: { backend_id: app } }
        - { match_type: exact_path, match: /healthz, backend: { backend_id: here } }
`;

async function curl(url: string, path: string): Promise<string> {
  return (await run('curl', ['-si', '-H', 'Host: shop.test', url + path])).stdout;
}

describe.each(Object.entries(NODES))('with %s', (name, node) => {
  // Short runs install the tarball in `tarball.test.ts`.
  const isThere = existsSync(node) && IS_FULL;
  if (!isThere) skipped(`the paths of users with ${name}`, 'only the full run has it');
  describe.skipIf(!isThere)('from the packed tarball', () => {
    let desk: Desk;
    const upstream = createServer((request, response) => response.end(`app got ${request.url}\n`));
    const port = () => (upstream.address() as AddressInfo).port;
    beforeAll(async () => {
      desk = await new Desk(node).install();
      await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    });
    afterAll(() => void upstream.close());

    it('a tester writes, checks, tests, covers and compares an edge', async () => {
      expect(await desk.node('--version')).toMatchObject({
        out: expect.stringMatching(`^v${name.slice(5)}`) as string,
      });
      expect(await desk.edgeproof('init --yes')).toMatchObject({ code: 0 });
      expect(await desk.edgeproof('check edge.yaml policy.yml')).toMatchObject({ code: 0 });
      const tested = await desk.edgeproof('test');
      expect(tested).toMatchObject({ code: 0, out: expect.stringMatching(/\d+ passed/) as string });
      expect(await desk.edgeproof('cover --threshold routes=100')).toMatchObject({ code: 0 });
      const edge = await desk.read('edge.yaml');
      await desk.write('old.yaml', edge);
      expect(await desk.edgeproof('diff old.yaml edge.yaml')).toMatchObject({ code: 0 });
      await desk.write('edge.yaml', edge.replace('match: /admin', 'match: /office'));
      const compared = await desk.edgeproof('diff old.yaml edge.yaml');
      expect(compared).toMatchObject({ code: 5, out: expect.stringContaining('/admin') as string });
      expect(await desk.edgeproof('test')).toMatchObject({ code: 1 });
    });

    it('a benchmarker measures a policy, and two edges against each other', async () => {
      const short = '--duration 20ms --warm-up 20ms --quiet';
      const rule = (path: string) =>
        `on_http_request:\n  - expressions: ["req.url.path.startsWith('${path}')"]\n    actions: [{ type: deny }]\n`;
      await desk.write('a.policy.yaml', rule('/a'));
      const policy = await desk.edgeproof(`bench a.policy.yaml ${short} -r json=result.json`);
      expect(policy).toMatchObject({ code: 0 });
      expect(JSON.parse(await desk.read('result.json'))).toBeTypeOf('object');
      await desk.write('one.yaml', edgeTo(3000));
      await desk.write('other.yaml', edgeTo(3001));
      const compared = await desk.edgeproof(`bench one.yaml --against other.yaml ${short}`);
      expect(compared).toMatchObject({
        code: 0,
        out: expect.stringMatching(/other\.yaml|against/) as string,
      });
    });

    it('a developer runs an ingress, changes it, and asks why', async () => {
      await desk.write('local.yaml', edgeTo(port()));
      const dev = desk.start('dev local.yaml --port 0 --no-tls --poll');
      const [, url] = await dev.waitFor(/(http:\/\/127\.0\.0\.1:\d+)/);
      expect(await curl(url!, '/a?b=1')).toMatch(/^HTTP\/1\.1 200 [^]*app got \/a\?b=1\n$/);
      await dev.waitFor(/GET +200 .*\/a/);
      await desk.write('local.yaml', edgeTo(port(), 'changed'));
      await expect.poll(() => curl(url!, '/healthz')).toContain('changed');
      const why = await desk.edgeproof('explain -e local.yaml GET https://shop.test/healthz');
      expect(why).toMatchObject({ code: 0, out: expect.stringMatching(/local\.yaml:\d+/) as string });
      expect(await dev.stop('SIGTERM')).toBe(0);
    });

    it('an embedder puts an application behind its edge, in JavaScript and in TypeScript', async () => {
      const text = `
          import { createServer } from 'node:http';
          import { createEdge, defineEdge } from 'edgeproof';
          const route = { match_type: 'path_prefix', match: '/shop', backend: { backend_id: 'app' } } as const;
          const edge = createEdge(
            defineEdge({
              backends: { app: { static: { address: '127.0.0.1:3000' } } },
              edges: { https: { shop: { hostports: ['shop.test:443'], routes: [route] } } },
            }),
          );
          const server = createServer(edge.node((_request, response) => void response.end('from the app')));
          server.listen(0, '127.0.0.1', async () => {
            const { port } = server.address() as { port: number };
            const { get } = await import('node:http');
            const ask = (path: string) =>
              new Promise((resolve) =>
                get({ host: '127.0.0.1', port, path, headers: { host: 'shop.test' } }, (response) => {
                  response.resume();
                  resolve(response.statusCode);
                }),
              );
            console.log(await ask('/shop'), await ask('/'), edge.decide({ url: 'https://shop.test/x' }).status);
            server.close();
            server.closeAllConnections();
          });`;
      await desk.write('use.ts', text);
      await desk.write('use.mjs', text.replaceAll(/ as (?:const|\{[^}]*\})|: string/g, ''));
      for (const file of ['use.mjs', 'use.ts'])
        expect({ file, ...(await desk.node(file)) }).toEqual({ file, code: 0, out: '200 404 404\n' });
    });

    it('an operator serves, applies a file, and manages keys', async () => {
      await desk.write('production.yaml', edgeTo(port()));
      const ports = '--port 0 --api-port 0 --store store.db';
      const serve = desk.start(`serve ${ports}`);
      const [, key] = await serve.waitFor(/admin key, shown only once: (\S+)/);
      const [, api] = await serve.waitFor(/management API (\S+)/);
      const [, url] = await serve.waitFor(/edge (http:\S+)/);
      const keyed = { EDGEPROOF_API_KEY: key! };
      const refused = await desk.edgeproof(`apply production.yaml --url ${api}`, {
        EDGEPROOF_API_KEY: 'no',
      });
      expect(refused.code).not.toBe(0);
      expect(await desk.edgeproof(`apply production.yaml --url ${api}`, keyed)).toMatchObject({ code: 0 });
      expect(await curl(url!, '/orders')).toMatch(/^HTTP\/1\.1 200 [^]*app got \/orders\n$/);
      const exported = await desk.edgeproof(`export --url ${api}`, keyed);
      expect(exported).toMatchObject({ code: 0, out: expect.stringContaining('shop.test:443') as string });
      expect(await serve.stop('SIGTERM')).toBe(0);
      const made = await desk.edgeproof('keys create --store store.db');
      expect(made).toMatchObject({ code: 0 });
      const listed = await desk.edgeproof('keys list --store store.db');
      const ids = [...listed.out.matchAll(/^\s*(ak\w*|\S{12,})\b/gm)].map(([, id]) => id!);
      expect({ listed, count: ids.length }).toMatchObject({ count: 2 });
      expect(await desk.edgeproof(`keys revoke ${ids[0]} --store store.db`)).toMatchObject({ code: 0 });
      const again = desk.start(`serve ${ports}`);
      const [, later] = await again.waitFor(/edge (http:\S+)/);
      await expect.poll(() => curl(later!, '/healthz')).toContain('ok');
      expect(await again.stop('SIGTERM')).toBe(0);
    });
  });
});
