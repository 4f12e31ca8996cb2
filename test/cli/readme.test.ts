import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { beforeAll, describe, expect, it } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import { folderWith } from '../folder.ts';
import { edgeproof } from './command.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = folderWith();
let readme: string;

beforeAll(async () => {
  readme = await readFile(join(root, 'README.md'), 'utf8');
});

/** The edge file that the page shows. */
function shownEdge(): string {
  return /```yaml\n([\s\S]*?)```/.exec(readme)![1]!;
}

describe('the README', () => {
  it('shows an edge file that decides as described', () => {
    const edge = createEdge(parse(shownEdge()));
    const status = (clientIp: string) => edge.decide({ url: 'https://shop.test/admin' }, { clientIp }).status;
    expect([status('203.0.113.9'), status('198.51.100.1')]).toEqual([200, 403]);
  });

  it('shows the output of check for a wrong name in that file', async () => {
    const broken = shownEdge().replace('ip_policy_ids: [office]', 'ip_policy_ids: [offce]');
    await writeFile(join(folder, 'shop.yaml'), broken);
    const { code, stdout } = await edgeproof(['check', 'shop.yaml'], folder);
    expect(code).toBe(3);
    expect(readme).toContain(stdout.slice(0, stdout.indexOf('1 error')));
  });

  it('shows the output of explain for the file that init writes, and can be followed from there', async () => {
    const fresh = folderWith();
    expect(await edgeproof(['init', '--yes'], fresh)).toMatchObject({ code: 0 });
    const [, line] = /^\$ npx edgeproof (explain .*)$/m.exec(readme)!;
    const { stdout } = await edgeproof(line!.split(' '), fresh);
    expect(readme).toContain(stdout);
    const [, measured] = /^\$ npx edgeproof bench (.*)$/m.exec(readme)!;
    expect(existsSync(join(fresh, measured!))).toBe(true);
  });
});
