import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderWith } from '../folder.ts';
import { edgeproof } from './command.ts';

// Folders that verbs make: what cannot be made or used ends the verb at once, with a cure.

const folder = folderWith({ a_file: '', 'target.json': '{"target":{"file":{"name":"events"}}}' });
const SERVE = ['serve', '--store', 'x.db', '--port', '0', '--api-port', '0', '--event-files'];
const DELIVER = ['deliver', 'nats://127.0.0.1:1/x', '--to', 'target.json', '--event-files'];

/** Node never ends making a folder there. */
describe.runIf(existsSync('/proc/self'))('a folder in /proc', () => {
  it.each([
    [['playground', '--out']],
    [['cert', 'app.test', '--out']],
    [['init', '--yes']],
    [SERVE],
    [DELIVER],
  ])('%j', async (words) => {
    for (const path of ['/proc/edgeproof', '/proc/edgeproof/deep']) {
      const { code, stderr } = await edgeproof([...words, path], folder);
      expect([code, stderr]).toEqual([
        4,
        `cannot create the folder ${path}: nothing can be created in /proc; choose another folder\n`,
      ]);
    }
  });

  it('as the home of the local authority', async () => {
    const { code, stderr } = await edgeproof(['cert', 'app.test'], folder, {
      EDGEPROOF_HOME: '/proc/edgeproof',
    });
    expect([code, stderr]).toEqual([
      4,
      'cannot keep a local authority in /proc/edgeproof: nothing can be created in /proc; choose another folder; EDGEPROOF_HOME names another folder\n',
    ]);
  });

  it('cannot have event files', async () => {
    const { code, stderr } = await edgeproof([...SERVE, '/proc'], folder);
    expect([code, stderr]).toEqual([
      4,
      'cannot write to the folder /proc: nothing can be created in /proc; choose another folder\n',
    ]);
  });
});

describe('a folder of event files', () => {
  it.each([
    ['a_file', 'it exists already; choose another name, or another folder'],
    ['a_file/events', 'a part of the path is a file, not a folder; correct the path'],
  ])('%s', async (path, reason) => {
    for (const words of [SERVE, DELIVER]) {
      const { code, stderr } = await edgeproof([...words, path], folder);
      expect([code, stderr]).toEqual([4, `cannot create the folder ${path}: ${reason}\n`]);
    }
    expect(existsSync(join(folder, 'x.db'))).toBe(false);
  });

  it('is made for its owner only', async () => {
    const serve = SERVE.with(2, 'nowhere/x.db');
    expect(await edgeproof([...serve, 'new/events'], folder)).toMatchObject({ code: 2 });
    expect(statSync(join(folder, 'new/events')).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(folder, 'new/events'))).toEqual([]);
  });
});
