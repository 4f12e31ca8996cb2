import { expect, it } from 'vitest';
import { workerHealth } from '../../src/cli/worker_health.ts';

/** Checks until the worker hangs, of at most 50. */
function checksUntilHung(isListening: boolean, answersUntil = 0) {
  const { check, answered } = workerHealth();
  for (let at = 1; at <= 50; at++) {
    const problem = check(isListening);
    if (problem !== null) return { at, problem };
    if (at <= answersUntil) answered();
  }
  return null;
}

it('a worker that serves hangs when it has not answered five checks', () => {
  expect(checksUntilHung(true)).toEqual({ at: 6, problem: 'does not answer for 15 s' });
  expect(checksUntilHung(true, 10)).toEqual({ at: 16, problem: 'does not answer for 15 s' });
  expect(checksUntilHung(true, 50)).toBe(null);
});

it('a worker that starts hangs when it does not listen after a minute', () => {
  expect(checksUntilHung(false)).toEqual({ at: 21, problem: 'does not listen after 60 s' });
  expect(checksUntilHung(false, 50)).toEqual({ at: 21, problem: 'does not listen after 60 s' });
});
