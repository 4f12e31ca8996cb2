import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { edgeproof } from '../cli/command.ts';

it('the examples of docs/login.md do what the page says', async () => {
  const page = await readFile(new URL('../../docs/login.md', import.meta.url), 'utf8');
  const blocks = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text!);
  const edge = blocks.find((text) => text.startsWith('edges:'))!;
  const scenario = blocks.find((text) => text.startsWith('edge: ./edge.yaml'))!;
  const folder = await mkdtemp(join(tmpdir(), 'edgeproof-login-'));
  try {
    await writeFile(
      join(folder, 'edge.yaml'),
      `${edge}backends: { shop: { static: { address: "127.0.0.1:9" } } }\n`,
    );
    await writeFile(join(folder, 'login.test.yaml'), scenario);
    const told = await edgeproof(['test', 'login.test.yaml'], folder);
    expect(told.stdout + told.stderr).toContain('1 passed');
    expect(told.code).toBe(0);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
