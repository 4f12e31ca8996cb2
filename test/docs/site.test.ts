import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { ensureBuilt } from '../built.ts';
import { skipped } from '../peers.ts';
import { IS_FULL } from '../random.ts';

const SITE = fileURLToPath(new URL('../../site', import.meta.url));

it('the site is built, and all its links resolve', async ({ skip }) => {
  if (!IS_FULL) return skip('the full run builds the site');
  if (!existsSync(`${SITE}/node_modules/vitepress`)) {
    skipped('the site', 'its generator is not installed (npm run peers)');
    return skip();
  }
  await ensureBuilt();
  const { stdout } = await promisify(execFile)('npm', ['run', '-s', 'build'], { cwd: SITE });
  expect(stdout).toMatch(/\d+ pages, \d+ internal links: all resolve/);
}, 300_000);
