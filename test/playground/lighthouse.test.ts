import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ensureBuilt } from '../built.ts';
import { rowOf, stoppedRow } from '../inspector/exchanges.ts';
import { startWireServer } from '../inspector/wire_server.ts';
import { hasProgram, skipped } from '../peers.ts';
import { IS_FULL } from '../random.ts';

const MAIN = fileURLToPath(new URL('../../dist/lib/main.cjs', import.meta.url));
const LIGHTHOUSE = fileURLToPath(
  new URL('../../peers/node_modules/lighthouse/cli/index.js', import.meta.url),
);
const CHROMIUM = '/usr/bin/chromium';
const LEAST = 0.95;

interface Report {
  readonly categories: Readonly<Record<string, { readonly score: number }>>;
  readonly audits: Readonly<Record<string, { readonly score: number | null; readonly title: string }>>;
}

async function playground() {
  await ensureBuilt();
  const server = spawn(process.execPath, [MAIN, 'playground', '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(server.stdout.setEncoding('utf8'), 'data')) as [string];
  const stop = async (): Promise<void> => {
    server.kill('SIGTERM');
    await once(server, 'exit');
  };
  return { url: /http:\S+/.exec(line)![0], stop };
}

async function inspector() {
  await ensureBuilt();
  const server = await startWireServer();
  server.add([rowOf(1), stoppedRow(2), rowOf(3, { method: 'POST', status: 503 })]);
  return { url: `${server.url}&exchange=2`, stop: () => server.stop() };
}

// It takes a minute.
test.runIf(IS_FULL).each([
  ['playground', playground],
  ['inspector', inspector],
] as const)(
  'Lighthouse gives the page of the %s at least 95 for accessibility and best practices',
  async (_page, started) => {
    if (!existsSync(LIGHTHOUSE))
      return skipped('Lighthouse', 'the libraries of peers/ are not installed (npm run peers)');
    if (!hasProgram(CHROMIUM, ['--version'], 'Lighthouse')) return;
    const { url, stop } = await started();
    try {
      const flags = ['--only-categories=accessibility,best-practices', '--output=json', '--quiet'];
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [LIGHTHOUSE, url, ...flags, '--chrome-flags=--headless=new --no-sandbox'],
        { env: { ...process.env, CHROME_PATH: CHROMIUM }, maxBuffer: 64 * 2 ** 20 },
      );
      const { categories, audits } = JSON.parse(stdout) as Report;
      const found = Object.values(audits).flatMap(({ score, title }) => (score === 0 ? [title] : []));
      const scores = Object.values(categories).map(({ score }) => score);
      expect([Math.min(...scores) >= LEAST, scores.length, found]).toEqual([true, 2, []]);
    } finally {
      await stop();
    }
  },
  240_000,
);
