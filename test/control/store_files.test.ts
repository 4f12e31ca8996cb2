import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openManagement } from '../../src/control/management.ts';
import { openSqliteStore } from '../../src/control/store/sqlite.ts';
import { folderWith } from '../folder.ts';

const folder = folderWith();
let count = 0;
const freshPath = (): string => join(folder, `store${count++}.db`);
const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe('the files of a store', () => {
  it('are accessible only by their owner, regardless of the umask', async () => {
    const before = process.umask(0);
    try {
      const storePath = freshPath();
      const management = await openManagement({ storePath });
      const modes = [storePath, `${storePath}-wal`, `${storePath}-shm`, `${storePath}.key`].map(modeOf);
      expect(modes).toEqual([0o600, 0o600, 0o600, 0o600]);
      await management.close();
      chmodSync(storePath, 0o644);
      await openSqliteStore(storePath).close();
      expect(modeOf(storePath)).toBe(0o600);
    } finally {
      process.umask(before);
    }
  });

  it('are opened only with their key; a missing key file is never replaced', async () => {
    const storePath = freshPath();
    const first = await openManagement({ storePath });
    await first.close();
    const away = `${storePath}.key.away`;
    renameSync(`${storePath}.key`, away);
    await expect(openManagement({ storePath })).rejects.toThrow(
      /key is missing: it contains the key for the secrets of/,
    );
    expect(existsSync(`${storePath}.key`)).toBe(false);
    renameSync(away, `${storePath}.key`);
    await (await openManagement({ storePath })).close();
  });

  it('get a key if the first start failed before creating one', async () => {
    const storePath = freshPath();
    await openSqliteStore(storePath).close();
    const management = await openManagement({ storePath });
    expect(management.firstKey).not.toBeNull();
    await management.close();
  });

  it('with an unreadable key are refused, and the key is unchanged', async () => {
    const storePath = freshPath();
    await (await openManagement({ storePath })).close();
    const key = readFileSync(`${storePath}.key`);
    rmSync(`${storePath}.key`);
    mkdirSync(`${storePath}.key`);
    await expect(openManagement({ storePath })).rejects.toThrow('cannot read the sealing key');
    rmSync(`${storePath}.key`, { recursive: true });
    writeFileSync(`${storePath}.key`, key);
    await (await openManagement({ storePath })).close();
  });
});
