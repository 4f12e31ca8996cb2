import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, expect, it } from 'vitest';
import { IS_FULL } from '../random.ts';
import { freePort } from '../free_port.ts';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'edgeproof-output-'));
const file = join(folder, 'edge.yaml');
writeFileSync(
  file,
  `backends: { app: { static: { address: '127.0.0.1:1' } } }
edges: { https: { a: { hostports: ['a.test:443'], routes: [{ match_type: path_prefix, match: /, backend: { backend_id: app } }] } } }
`,
);

let child: ChildProcess | null = null;
afterEach(() => {
  child?.kill('SIGKILL');
  child = null;
});
afterAll(() => rmSync(folder, { recursive: true }));

const OUTPUTS = [
  ['events and log', ['--events', '-']],
  ['log', []],
] as const;

it.each(IS_FULL ? OUTPUTS : OUTPUTS.slice(0, 1))(
  'an ingress continues to serve when the reader of its %s has gone',
  async (_name, more) => {
    const [port, adminPort] = [await freePort(), await freePort()];
    const args = [
      'dev',
      file,
      '--port',
      String(port),
      '--admin-port',
      String(adminPort),
      '--no-watch',
      ...more,
    ];
    child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    const exited = once(child, 'exit');
    let isOver = false;
    void exited.then(() => (isOver = true));
    await expect
      .poll(
        () =>
          fetch(`http://127.0.0.1:${adminPort}/readyz`).then(
            ({ status }) => status,
            () => 0,
          ),
        { timeout: 20_000 },
      )
      .toBe(200);
    child.stdout!.destroy();
    child.stderr!.destroy();
    for (let at = 0; at < 5; at++) {
      expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(502);
      // What the request wrote has failed by now, and ended nothing.
      expect((await fetch(`http://127.0.0.1:${adminPort}/readyz`)).status).toBe(200);
    }
    expect(isOver).toBe(false);
    if (more.length > 0) {
      const lost = async (): Promise<number> => {
        const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
        return Number(/^edgeproof_events_lost_total\{reason="not_written"\} (\d+)$/m.exec(text)?.[1]);
      };
      await expect.poll(lost).toBe(5);
    }
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  },
  60_000,
);
