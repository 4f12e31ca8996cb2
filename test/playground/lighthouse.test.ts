import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ensureBuilt } from '../built.ts';
import { hasProgram, skipped } from '../peers.ts';

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

test('Lighthouse gives the playground at least 95 for accessibility and best practices', async ({ skip }) => {
  if (!existsSync(LIGHTHOUSE)) {
    skipped('Lighthouse', 'the libraries of peers/ are not installed (npm run peers)');
    return skip();
  }
  if (!hasProgram(CHROMIUM, ['--version'], 'Lighthouse')) return skip();
  await ensureBuilt();
  const server = spawn(process.execPath, [MAIN, 'playground', '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = (await once(server.stdout.setEncoding('utf8'), 'data')) as [string];
    const url = /http:\S+/.exec(line)![0];
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
    server.kill('SIGTERM');
    await once(server, 'exit');
  }
}, 240_000);
