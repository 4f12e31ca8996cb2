import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RefusedInput, allowedPath, existingFolders, outermost } from '../../src/mcp/read_access.ts';
import { folderWith } from '../folder.ts';
import { assistant } from './client.ts';

test('paths are inside the allowed folders, after their links are followed', () => {
  const [own, other] = [folderWith(), folderWith()];
  mkdirSync(join(own, 'sub'));
  writeFileSync(join(own, '..a'), '');
  writeFileSync(join(other, 'b'), '');
  symlinkSync(join(other, 'b'), join(own, 'link'));
  symlinkSync(join(own, 'sub'), join(own, 'inner'));
  const folders = existingFolders([own, join(own, 'missing')]);
  expect(folders).toEqual([own]);
  expect(allowedPath('.', folders)).toBe(own);
  expect(allowedPath('..a', folders)).toBe(join(own, '..a'));
  expect(allowedPath('inner', folders)).toBe(join(own, 'sub'));
  for (const path of ['..', 'link', join(other, 'b'), `${own}2`, 'missing', '/'])
    expect(() => allowedPath(path, folders)).toThrow(RefusedInput);
  expect(() => allowedPath('.', [])).toThrow('allows no folder');
});

test('folders inside others are not named twice', () => {
  expect(outermost(['/a/b', '/a', '/ab', '/a', '/c/d'])).toEqual(['/a', '/ab', '/c/d']);
});

test('a folder that contains the program, and folders inside each other, can be read', async () => {
  const outer = folderWith();
  const inner = join(outer, 'inner');
  mkdirSync(inner);
  writeFileSync(join(outer, 'edge.yaml'), 'edges: {}\n');
  const own = await assistant(outer, [
    '--root',
    outer,
    '--root',
    inner,
    '--root',
    join(import.meta.dirname, '../..'),
  ]);
  expect(await own.call('check', { file: '.' })).toMatchObject({ exitCode: 0 });
  expect(await own.call('check', { file: 'inner' })).toMatchObject({ problem: expect.any(String) as string });
  await own.close();
});
