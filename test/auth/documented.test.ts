import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderWith } from '../folder.ts';
import { edgeproof } from '../cli/command.ts';

const folder = folderWith();

it('the examples of docs/login.md do what the page says', async () => {
  const page = await readFile(new URL('../../docs/login.md', import.meta.url), 'utf8');
  const blocks = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text!);
  const edge = blocks.find((text) => text.startsWith('backends:'))!;
  const scenario = blocks.find((text) => text.startsWith('edge: ./edge.yaml'))!;
  await writeFile(join(folder, 'edge.yaml'), edge);
  await writeFile(join(folder, 'login.test.yaml'), scenario);
  const told = await edgeproof(['test', 'login.test.yaml'], folder);
  expect(told.stdout + told.stderr).toContain('1 passed');
  expect(told.code).toBe(0);
});
