import { execFileSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { watchFile } from '../../src/cli/watch.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgeproof-watch-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe.each([
  ['with notifications', false],
  ['with --poll', true],
])('a watched file, %s', (_, poll) => {
  it('is reported after every change, also after one during a report, and one report at a time', async () => {
    const file = join(folder, 'edge.yaml');
    // At once, so that no look sees half of it.
    const save = (text: string): void => {
      writeFileSync(join(folder, 'next'), text);
      renameSync(join(folder, 'next'), file);
    };
    save('written before it is watched');
    utimesSync(file, 1, 1);
    const reports: PromiseWithResolvers<void>[] = [];
    let inProgress = 0;
    let mostInProgress = 0;
    const changed = async (names: readonly string[]): Promise<void> => {
      expect(names).toEqual([file]);
      mostInProgress = Math.max(mostInProgress, ++inProgress);
      const report = Promise.withResolvers<void>();
      reports.push(report);
      await report.promise;
      inProgress--;
    };
    const reported = async (count: number): Promise<void> => {
      await expect.poll(() => reports.length).toBe(count);
    };

    let looks = 0;
    const began = { files: [], beganMs: Date.now() };
    const reading = () => {
      looks++;
      return began;
    };
    const watcher = watchFile(file, { changed, deleted: () => undefined }, poll, reading);
    save('the first change');
    await reported(1);
    save('during a report');
    reports[0]!.resolve();
    await reported(2);
    const before = looks;
    reports[1]!.resolve();
    // The look after the report finds nothing.
    await expect.poll(() => looks).toBeGreaterThan(before);
    save('later');
    await reported(3);
    reports[2]!.resolve();
    expect(mostInProgress).toBe(1);
    watcher.close();
  });

  it('is gone while a pipe is in its place, which is not read: a read would never end', async () => {
    const file = join(folder, 'edge.yaml');
    writeFileSync(file, 'a file');
    const seen: string[] = [];
    const watcher = watchFile(
      file,
      { changed: () => void seen.push('changed'), deleted: () => void seen.push('deleted') },
      poll,
    );
    await expect.poll(() => seen).toEqual(['changed']);
    rmSync(file);
    execFileSync('mkfifo', [file]);
    await expect.poll(() => seen.at(-1)).toBe('deleted');
    rmSync(file);
    writeFileSync(file, 'another file');
    await expect.poll(() => seen.at(-1)).toBe('changed');
    watcher.close();
  });
});
