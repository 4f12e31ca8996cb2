import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { IS_FULL } from '../random.ts';
import { lazyLoad } from '../../src/loading/lazy_load.ts';

const run = promisify(execFile);

describe('code that is loaded by use', () => {
  it('is loaded once, also for callers that wait for it', async () => {
    let loads = 0;
    const late = lazyLoad(async () => ++loads);
    expect(late.now()).toBeNull();
    expect(await late.ifBegun()).toBeNull();
    expect(await Promise.all([late.get(), late.get(), late.ifBegun()])).toEqual([1, 1, 1]);
    expect(await late.get()).toBe(1);
    expect(late.now()).toBe(1);
  });

  it('a load that failed is forgotten', async () => {
    let loads = 0;
    const late = lazyLoad(async () => {
      if (++loads < 3) throw new Error(`EMFILE ${loads}`);
      return loads;
    });
    const [one, other, begun] = await Promise.allSettled([late.get(), late.get(), late.ifBegun()]);
    expect([one.status, other.status]).toEqual(['rejected', 'rejected']);
    expect(begun).toEqual({ status: 'fulfilled', value: null });
    expect(await late.ifBegun()).toBeNull();
    await expect(late.get()).rejects.toThrow('EMFILE 2');
    expect(await late.get()).toBe(3);
    expect(late.now()).toBe(3);
  });
});

interface Seen {
  readonly during: Readonly<Record<string, string>>;
  readonly eventsDuring: number;
  readonly after: Readonly<Record<string, string>>;
  readonly events: number;
  readonly metrics: string;
}

describe('a process without descriptors', () => {
  // A connection takes two here: one of the client, one of the edge.
  it.each(IS_FULL ? [2, 3, 4] : [3])(
    'first uses with %i descriptors left do no lasting harm',
    async (left) => {
      const folder = await mkdtemp(join(tmpdir(), 'edgeproof-starved-'));
      const program = fileURLToPath(new URL('starved.ts', import.meta.url));
      const command = `ulimit -n 256; exec "$0" "$@"`;
      const { stdout } = await run('sh', ['-c', command, process.execPath, program, folder, String(left)], {
        timeout: 60_000,
      });
      await rm(folder, { recursive: true });
      const seen = JSON.parse(stdout) as Seen;
      expect(seen.after).toEqual({
        http1: 'HTTP/1.1 502',
        upstream: 'HTTP/1.1 502',
        tls: 'HTTP/1.1 502',
        http2: '502',
      });
      const answered = [...Object.values(seen.during), ...Object.values(seen.after)].filter((text) =>
        /\b50\d$/.test(text),
      );
      expect(seen.events).toBe(answered.length);
      expect(seen.metrics).toContain('edgeproof_events_lost_total{reason="not_made"} 0');
    },
  );
});
