import { readFileSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/control/store/sqlite.ts';
import { folderWith } from '../folder.ts';
import { oneRoute } from '../one_route.ts';
import { edgeproof } from './command.ts';

// Names that shells and scripts make by accident: empty ones, links in a circle, empty files.

const folder = folderWith({ 'edge.yaml': JSON.stringify(oneRoute({})), 'empty.db': '' });
const SERVE = ['serve', '--store', 'x.db', '--port', '0', '--api-port', '0', '--event-files'];
symlinkSync('circle.yaml', join(folder, 'circle.yaml'));

describe('links in a circle', () => {
  it.each([
    [['check']],
    [['fmt']],
    [['test']],
    [['cover']],
    [['replay', '--edge', 'edge.yaml']],
    [['bench', 'edge.yaml', '--requests']],
    [['explain', 'GET', 'https://a.test/', '--edge']],
  ])('%j cannot be read', async (words) => {
    const { code, stderr } = await edgeproof([...words, 'circle.yaml'], folder);
    expect([code, stderr]).toEqual([
      2,
      'cannot read circle.yaml: symbolic links lead in a circle; correct the links\n',
    ]);
  });
});

describe('an empty name, as of a variable that is not set', () => {
  it.each([[['check']], [['test']], [['sim']], [['explain', 'GET', 'https://a.test/', '--edge']]])(
    '%j: of a file',
    async (words) => {
      const { code, stderr } = await edgeproof([...words, ''], folder);
      expect([code, stderr]).toEqual([2, 'the name of a file is empty; name one\n']);
    },
  );

  it.each([[['playground', '--out']], [['cert', 'a.test', '--out']], [SERVE]])(
    '%j: of a folder, which is not this one',
    async (words) => {
      const before = readdirSync(folder);
      const { code, stderr } = await edgeproof([...words, ''], folder);
      expect([code, stderr]).toEqual([
        2,
        'the folder name is empty; give one, or . for the current folder\n',
      ]);
      expect(readdirSync(folder)).toEqual(before);
    },
  );
});

describe('a file that is not yet a store', () => {
  it.each([
    ['keys', 'create'],
    ['keys', 'list'],
    ['restrictions', 'list'],
  ])('%s %s', async (...words) => {
    const { code, stderr } = await edgeproof([...words, '--store', 'empty.db'], folder);
    expect([code, stderr]).toEqual([
      2,
      'empty.db is an empty file, not a store; name one that `edgeproof serve` made\n',
    ]);
    expect(readFileSync(join(folder, 'empty.db'))).toHaveLength(0);
  });

  it('keys create without an account', async () => {
    await openSqliteStore(join(folder, 'new.db')).close();
    const { code, stderr } = await edgeproof(['keys', 'create', '--store', 'new.db'], folder);
    expect([code, stderr]).toEqual([
      2,
      'new.db has no account yet; start `edgeproof serve` with it, which makes one\n',
    ]);
  });
});
