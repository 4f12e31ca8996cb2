import { readFileSync } from 'node:fs';
import { TICK_MS } from './processes.ts';

/** Times of a core since the machine started, in ticks. */
interface CoreTicks {
  readonly idle: number;
  readonly all: number;
}

/** Shares of a core's time, 0 to 1. */
export interface CoreShares {
  readonly idle: number;
  /** Of other processes; includes time stolen by other guests of the host. */
  readonly foreign: number;
}

function ticksOf(core: number): CoreTicks {
  const line = readFileSync('/proc/stat', 'utf8')
    .split('\n')
    .find((each) => each.startsWith(`cpu${core} `));
  // user nice system idle iowait irq softirq steal; guests are in user (proc_stat(5)).
  const ticks = (line ?? '').split(/ +/).slice(1, 9).map(Number);
  return { idle: (ticks[3] ?? 0) + (ticks[4] ?? 0), all: ticks.reduce((sum, each) => sum + each, 0) };
}

/** Watches a core from now on; given the share that some processes used, returns the rest. Null: no core. */
export function watchCore(core: number | null): (takenMs: number) => CoreShares | null {
  if (core === null) return () => null;
  const before = ticksOf(core);
  return (takenMs) => {
    const after = ticksOf(core);
    const all = Math.max(1, after.all - before.all);
    const idle = (after.idle - before.idle) / all;
    return { idle, foreign: Math.max(0, 1 - idle - takenMs / TICK_MS / all) };
  };
}
