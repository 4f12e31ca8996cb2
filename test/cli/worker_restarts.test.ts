import { expect, it } from 'vitest';
import { restarts } from '../../src/cli/worker_restarts.ts';

const FAILED = { livedMs: 100, hasListened: false, status: 3 };
const KILLED = { livedMs: 100, hasListened: true, status: null };
const OTHERS_SERVE = { areListening: true, haveListened: true };
const NONE_SERVES = { areListening: false, haveListened: true };
const FIRST_START = { areListening: false, haveListened: false };

it('a failure of the first start stops all, with its exit code', () => {
  expect(restarts()(FAILED, FIRST_START)).toEqual({ exitCode: 3 });
});

it('a worker that cannot start is tried again without end while others serve, after longer and longer times', () => {
  const afterEnd = restarts();
  const delays = Array.from({ length: 10 }, () => afterEnd(FAILED, OTHERS_SERVE));
  expect(delays).toEqual(
    [0, 250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000].map((delayMs) => ({ delayMs })),
  );
});

it.each([
  ['with the exit code of the last one', FAILED, 3],
  ['with the code of an I/O error if signals ended them', KILLED, 4],
  ['with that code, too, if they ended without an error', { ...KILLED, status: 0 }, 4],
])('failures one after the other stop all when no worker serves, %s', (_name, end, exitCode) => {
  const afterEnd = restarts();
  const decisions = Array.from({ length: 6 }, () => afterEnd(end, NONE_SERVES));
  expect(decisions.map((each) => 'exitCode' in each)).toEqual([false, false, false, false, false, true]);
  expect(decisions[5]).toEqual({ exitCode });
});

it('a worker that served for a while is replaced at once, and its earlier failures do not count', () => {
  const afterEnd = restarts();
  for (let at = 0; at < 5; at++) afterEnd(KILLED, NONE_SERVES);
  expect(afterEnd({ ...KILLED, livedMs: 60_000 }, NONE_SERVES)).toEqual({ delayMs: 0 });
  expect(afterEnd(KILLED, NONE_SERVES)).toEqual({ delayMs: 0 });
});

it('a worker that took long to fail has failed', () => {
  const afterEnd = restarts();
  const late = { ...FAILED, livedMs: 60_000 };
  for (let at = 0; at < 5; at++) afterEnd(late, NONE_SERVES);
  expect(afterEnd(late, NONE_SERVES)).toEqual({ exitCode: 3 });
});
