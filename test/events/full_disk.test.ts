import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statfsSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import { lineFile } from '../../src/events/file_target.ts';
import { type LineFileOptions, openLineFile } from '../../src/events/line_file.ts';
import { lostEvents } from '../../src/events/lost.ts';
import { ndjsonSink } from '../../src/events/ndjson.ts';
import { skipped } from '../peers.ts';

const FULL = '/dev/full';
const hasFull = existsSync(FULL);
if (!hasFull) skipped('a full disk', 'there is no /dev/full');
const folder = mkdtempSync(join(tmpdir(), 'edgeproof-full-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A small disk of its own; null where this user may not mount one. */
const disk = smallDisk();
afterAll(() => void (disk !== null && spawnSync('umount', [disk])));

function smallDisk(): string | null {
  const place = mkdtempSync(join(tmpdir(), 'edgeproof-disk-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', place]);
  if (mounted.status === 0) return place;
  skipped('a small disk', mounted.error?.message ?? String(mounted.stderr).trim());
  return null;
}

const line = (at: number, length = 100): Buffer =>
  Buffer.from(`${JSON.stringify({ at, fill: 'x'.repeat(length) })}\n`);

/** What the file has, one number a line. */
const numbersIn = (path: string): number[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => (JSON.parse(text) as { at: number }).at);

const counting = (told: string[], extra: Partial<LineFileOptions> = {}): LineFileOptions => ({
  limitBytes: 1_000_000,
  retryMs: 20,
  failing: (problem) => told.push(`failing ${problem}`),
  resumed: () => told.push('resumed'),
  lost: (lines) => told.push(`lost ${lines}`),
  ...extra,
});

const POLL = { timeout: 10_000, interval: 10 };

/** Whether this process has the file open. */
function isOpen(path: string): boolean {
  return readdirSync('/proc/self/fd').some((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path;
    } catch {
      return false;
    }
  });
}

/** Fills a disk up to some bytes with a file. */
function fill(path: string, left: number): void {
  const { bavail, bsize } = statfsSync(disk!);
  writeFileSync(path, Buffer.alloc(bavail * bsize - left));
}

const range = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

describe.skipIf(!hasFull)('a full disk', () => {
  it('lines are queued and written when there is space', async () => {
    const path = join(folder, 'link');
    const target = join(folder, 'target');
    symlinkSync(FULL, path);
    const told: string[] = [];
    const file = await openLineFile(path, counting(told));
    for (let at = 0; at < 50; at++) file.write(line(at));
    await expect.poll(() => told.length).toBe(1);
    expect(told[0]).toContain('ENOSPC');
    unlinkSync(path);
    symlinkSync(target, path);
    await expect.poll(() => told.at(-1)).toBe('resumed');
    for (let at = 50; at < 60; at++) file.write(line(at));
    await file.close();
    expect(numbersIn(target)).toEqual(range(60));
    expect(told).toHaveLength(2);
  });

  it('lines beyond the queue are lost and counted, also at the end', async () => {
    const told: string[] = [];
    const file = await openLineFile(FULL, counting(told, { limitBytes: 1_000 }));
    for (let at = 0; at < 100; at++) file.write(line(at));
    await file.close();
    const lost = told.filter((text) => text.startsWith('lost')).map((text) => Number(text.slice(5)));
    expect(lost.reduce((sum, count) => sum + count, 0)).toBe(100);
  });

  it('the sink counts lost events by reason', async () => {
    const said: string[] = [];
    const lost = lostEvents((text) => said.push(text));
    const sink = await ndjsonSink(FULL, {
      lost,
      say: (text) => void said.push(text),
      limitBytes: 100,
      retryMs: 20,
    });
    const { event } = createEdge({ edges: { https: {} } }).decide({ url: 'https://a.test/' });
    for (let at = 0; at < 100; at++) sink.write(event);
    await sink.close();
    expect(lost.counts()).toEqual({ not_made: 0, not_written: 100, too_slow: 0 });
    expect(said.some((text) => /events are lost: ENOSPC/.test(text))).toBe(true);
    expect(said.length).toBeLessThan(5);
  });
});

describe.skipIf(disk === null)('a small disk', () => {
  it('is continued within the interrupted line', async () => {
    const path = join(disk!, 'events.ndjson');
    const ballast = join(disk!, 'ballast');
    writeFileSync(ballast, Buffer.alloc(200_000));
    const told: string[] = [];
    const file = await openLineFile(path, counting(told));
    for (let at = 0; at < 10; at++) file.write(Buffer.concat([line(at * 2, 7_000), line(at * 2 + 1, 7_000)]));
    await expect.poll(() => told.length).toBe(1);
    const torn = readFileSync(path, 'utf8');
    expect(torn.endsWith('\n')).toBe(false);
    unlinkSync(ballast);
    await expect.poll(() => told.at(-1)).toBe('resumed');
    await file.close();
    expect(numbersIn(path)).toEqual(range(20));
  });

  it('a replaced file starts with a complete line', async () => {
    const path = join(disk!, 'rotated.ndjson');
    const ballast = join(disk!, 'ballast');
    rmSync(join(disk!, 'events.ndjson'), { force: true });
    writeFileSync(ballast, Buffer.alloc(200_000));
    const told: string[] = [];
    // Between attempts the file is closed. If it was open when it is removed, the rest would be written to what was removed.
    const file = await openLineFile(path, counting(told, { retryMs: 500 }));
    for (let at = 0; at < 20; at++) file.write(line(at, 7_000));
    await expect.poll(() => told.length === 1 && !isOpen(path), POLL).toBe(true);
    const before = readFileSync(path, 'utf8').split('\n').slice(0, -1).length;
    unlinkSync(path);
    unlinkSync(ballast);
    await expect.poll(() => told.at(-1), POLL).toBe('resumed');
    await file.close();
    expect(numbersIn(path)).toEqual(range(20).slice(before));
  });
});

describe('after a line that an earlier process could not finish', () => {
  const torn = '{"at":0,"fil';

  it('a file of events continues on a new line', async () => {
    const path = join(folder, 'torn.ndjson');
    for (const [before, after] of [
      [torn, `${torn}\n`],
      ['{"at":0}\n', '{"at":0}\n'],
      ['', ''],
    ] as const) {
      writeFileSync(path, before);
      const file = await openLineFile(path, counting([]));
      file.write(Buffer.from('{"at":1}\n'));
      await file.close();
      expect(readFileSync(path, 'utf8')).toBe(`${after}{"at":1}\n`);
    }
  });

  it('a file destination continues on a new line', async () => {
    const path = join(folder, 'ed_1', 'x');
    mkdirSync(join(folder, 'ed_1'));
    writeFileSync(path, torn);
    for (const at of ['1', '2']) {
      const file = lineFile(folder, 'ed_1', { name: 'x', max_bytes: 1_000, max_files: 1 });
      expect(await file.append([at])).toBeNull();
      await file.close();
    }
    expect(readFileSync(path, 'utf8')).toBe(`${torn}\n1\n2\n`);
  });
});

it.skipIf(disk === null)(
  'attempts to write to a full disk keep the full files of a destination',
  async () => {
    for (const name of readdirSync(disk!)) rmSync(join(disk!, name), { recursive: true });
    const own = join(disk!, 'ed_1');
    const file = lineFile(disk!, 'ed_1', { name: 'x', max_bytes: 24_000, max_files: 2 });
    const lines = (from: number) =>
      [0, 1, 2, 3].map((at) =>
        line(from + at, 5_000)
          .toString()
          .trimEnd(),
      );
    for (const from of [4, 8]) expect(await file.append(lines(from))).toBeNull();
    const ballast = join(disk!, 'ballast');
    // Room for a part of the next lines.
    fill(ballast, 10_000);
    for (let attempt = 0; attempt < 4; attempt++) expect(await file.append(lines(12))).toMatch(/ENOSPC/);
    unlinkSync(ballast);
    expect(await file.append(lines(12))).toBeNull();
    await file.close();
    expect(numbersIn(join(own, 'x.2'))).toEqual([4, 5, 6, 7]);
    expect(numbersIn(join(own, 'x.1'))).toEqual([8, 9, 10, 11]);
    expect(readFileSync(join(own, 'x'), 'utf8').trimEnd().split('\n').slice(-4)).toEqual(lines(12));
  },
);

it('losses are reported in summary', () => {
  const said: string[] = [];
  let now = 0;
  const lost = lostEvents(
    (text) => said.push(text),
    () => now,
  );
  for (let at = 0; at < 1_000; at++) {
    lost.add('too_slow', 1, 'slow');
    now += 20;
  }
  expect(said).toEqual(['1 event is lost: slow', '500 events are lost: slow']);
  expect(lost.counts().too_slow).toBe(1_000);
});
