import { describe, expect, it } from 'vitest';
import { type CpuProfile, folderTimes, functionTimes } from '../../bench/ingress/cpu_profile.ts';
import { CONTESTANTS } from '../../bench/ingress/contestants.ts';
import type { Cell, Measured, Sample } from '../../bench/ingress/measuring.ts';
import { goalLines, markdownOf, tableOf, textOf } from '../../bench/ingress/report.ts';
import { settingsOf } from '../../bench/ingress/settings.ts';
import { WORKLOADS } from '../../bench/ingress/workloads.ts';

const BARE = WORKLOADS.find(({ id }) => id === 'get_1k')!;
const ALL_ON = WORKLOADS.find(({ id }) => id === 'all_get_1k')!;

const SAMPLE: Sample = {
  perSecond: 10_000,
  cpuMicrosEach: 20,
  p50Ms: 1,
  p99Ms: 2,
  rssMb: 20,
  bytesEach: 1_024,
  faults: 0,
  loadIdle: 0.5,
  foreign: 0,
};

function measuredOf(workload: typeof BARE, cells: Readonly<Record<string, Cell>>): Measured {
  return {
    contestants: CONTESTANTS.filter(({ name }) => Object.hasOwn(cells, name)),
    workloads: [workload],
    cell: (_workload, contestant) => cells[contestant]!,
  };
}

describe('goals', () => {
  const verdicts = (workload: typeof BARE, ours: Partial<Sample>, nginx: Partial<Sample> = {}) =>
    goalLines(measuredOf(workload, { ours: [{ ...SAMPLE, ...ours }], nginx: [{ ...SAMPLE, ...nginx }] }));

  it('are judged by throughput', () => {
    expect(verdicts(BARE, { perSecond: 9_000, cpuMicrosEach: 90 })[0]).toMatch(/≥ 0.9 ×: met$/);
    expect(verdicts(BARE, { perSecond: 8_900, cpuMicrosEach: 10 })[0]).toMatch(/≥ 0.9 ×: missed$/);
  });

  it('are judged by CPU if the load generator was the limit, or others used the core', () => {
    const slow = { perSecond: 5_000, cpuMicrosEach: 22 };
    expect(verdicts(BARE, slow)[0]).toMatch(/missed$/);
    expect(verdicts(BARE, slow, { loadIdle: 0.01 })[0]).toMatch(/met by CPU$/);
    expect(verdicts(BARE, { ...slow, foreign: 0.4 })[0]).toMatch(/met by CPU$/);
    expect(verdicts(BARE, { ...slow, cpuMicrosEach: 30, foreign: 0.4 })[0]).toMatch(/missed by CPU$/);
  });

  it('of latency are upper bounds', () => {
    expect(verdicts(BARE, { p99Ms: 3 })[1]).toMatch(/p99 ≤ 1.5 ×: met, 1.50$/);
    expect(verdicts(BARE, { p99Ms: 3.1 })[1]).toMatch(/p99 ≤ 1.5 ×: missed, 1.55$/);
  });

  it('with everything enabled have a goal and a lower acceptable value', () => {
    expect(verdicts(ALL_ON, { perSecond: 10_000 })).toEqual([expect.stringMatching(/≥ 1 ×: met$/)]);
    expect(verdicts(ALL_ON, { perSecond: 9_500 })[0]).toMatch(/≥ 1 ×: missed, but ≥ 0.9 ×$/);
    expect(verdicts(ALL_ON, { perSecond: 8_000 })[0]).toMatch(/≥ 1 ×: missed$/);
  });
});

describe('a table', () => {
  const measured = measuredOf(BARE, {
    // The second round was twice as slow for all: ratios are computed within a round.
    ours: [SAMPLE, { ...SAMPLE, perSecond: 5_000 }],
    nginx: [
      { ...SAMPLE, perSecond: 20_000 },
      { ...SAMPLE, perSecond: 10_000 },
    ],
    caddy: { skipped: 'caddy is not installed' },
  });

  it('has medians, ratios round by round and what was skipped', () => {
    const [head, ours, nginx, caddy] = tableOf(measured, BARE).rows;
    const at = (row: readonly string[] | undefined, name: string) => row?.[head!.indexOf(name)];
    expect(at(ours, 'requests/s')).toBe('7,500');
    expect(at(ours, '× nginx')).toBe('0.50 (0.50–0.50)');
    expect(at(nginx, 'ours ×')).toBe('0.50');
    expect(caddy).toEqual(['caddy', 'skipped: caddy is not installed']);
  });

  it('is text with columns, and Markdown with as many cells in each row', () => {
    const table = tableOf(measured, BARE);
    const [, head = '', ours = ''] = textOf(table).split('\n');
    expect(head.indexOf('requests/s') + 'requests/s'.length).toBe(ours.indexOf('7,500') + '7,500'.length);
    const rows = markdownOf(table)
      .split('\n')
      .filter((line) => line.startsWith('|'));
    expect(new Set(rows.map((line) => line.split('|').length)).size).toBe(1);
  });
});

describe('settings', () => {
  it('use the chosen sections, without start and memory', () => {
    const settings = settingsOf(['--only', 'ours,nginx', '--workload', 'get_1k', '--rounds', '7']);
    expect(settings).toMatchObject({ rounds: 7, idle: 0, source: false, workloads: new Set(['get_1k']) });
    expect(settingsOf([])).toMatchObject({ rounds: 5, idle: 10_000, only: null, workloads: null });
  });

  it.each([['--only=ngin'], ['--workload=get'], ['--rounds=0'], ['--seconds=x'], ['--what']])(
    'report %s',
    (argument) => {
      expect(settingsOf([argument])).toMatch(/^(not known|Unknown option).*\n/);
    },
  );
});

describe('a profile', () => {
  const frame = (functionName: string, url: string) => ({ functionName, url, lineNumber: 4 });
  const profile: CpuProfile = {
    nodes: [
      { id: 1, callFrame: frame('(root)', ''), children: [2, 5] },
      { id: 2, callFrame: frame('serve', 'file:///x/dist/proxy/a.js'), children: [3] },
      { id: 3, callFrame: frame('serve', 'file:///x/dist/proxy/a.js'), children: [4] },
      { id: 4, callFrame: frame('writev', '') },
      { id: 5, callFrame: frame('(idle)', '') },
    ],
    startTime: 1_000,
    samples: [2, 3, 4, 5, 4],
    timeDeltas: [0, 1_000, 2_000, 4_000, 8_000],
  };

  it('gives the time of a function alone and with callees, a recursion once', () => {
    expect(functionTimes(profile, 0, 1e9)).toEqual([
      { name: 'writev', place: '', selfMs: 4, totalMs: 4 },
      { name: 'serve', place: 'dist/proxy/a.js:5', selfMs: 3, totalMs: 7 },
    ]);
  });

  it('leaves out what was before and after', () => {
    // Samples are at 1, 2, 4, 8 and 16 ms.
    expect(functionTimes(profile, 2_000, 4_000)).toEqual([
      { name: 'serve', place: 'dist/proxy/a.js:5', selfMs: 2, totalMs: 2 },
    ]);
  });

  it('shows folders', () => {
    expect(folderTimes(functionTimes(profile, 0, 1e9))).toEqual([
      ['built into Node', 4],
      ['proxy', 3],
    ]);
  });
});
