import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeText } from '../../src/cli/write_file.ts';
import { folderWith } from '../folder.ts';

/** A file that others can read, on a file system that refuses every change of a mode, as FAT does. */
const FIXED = '/proc/self/comm';

describe('files with secrets', () => {
  it.skipIf(!existsSync(FIXED))('are not written where others could read them', () => {
    const before = readFileSync(FIXED, 'utf8');
    expect(() => writeText(FIXED, 'secret', { isSecret: true })).toThrow(
      `cannot write ${FIXED}: others could read the secret in it, because its file system cannot restrict who reads a file; write to another one, or mount this one for its owner alone (umask=077)`,
    );
    expect(readFileSync(FIXED, 'utf8')).toBe(before);
  });

  it('keep a mode that is narrow enough, and get one otherwise, also in place of a longer file', () => {
    const folder = folderWith({ 'narrow.pem': 'a longer text', 'wide.pem': 'a longer text' });
    const path = (name: string) => join(folder, name);
    chmodSync(path('narrow.pem'), 0o700);
    chmodSync(path('wide.pem'), 0o644);
    for (const [name, mode] of [
      ['narrow.pem', 0o700],
      ['wide.pem', 0o600],
      ['new.pem', 0o600],
    ] as const) {
      writeText(path(name), 'secret', { isSecret: true });
      expect([name, readFileSync(path(name), 'utf8'), statSync(path(name)).mode & 0o777]).toEqual([
        name,
        'secret',
        mode,
      ]);
    }
    writeFileSync(path('kept'), 'kept');
    expect(() => writeText(path('kept'), 'secret', { isSecret: true, flag: 'wx' })).toThrow(
      'it exists already',
    );
    expect(readFileSync(path('kept'), 'utf8')).toBe('kept');
  });
});
