import { tests } from '@bufbuild/cel-spec/testdata/conformance.js';
import { describe, expect, it } from 'vitest';

import { flatten, needsMessages, runCase } from './conformance_runner.ts';
import { MESSAGES_REASON, SKIPS, skipReason } from './conformance_skips.ts';

const EXTENSIONS: ReadonlySet<string> = new Set([
  'bindings_ext',
  'block_ext',
  'encoders_ext',
  'macros2',
  'math_ext',
  'optionals',
  'string_ext',
]);

interface Tally {
  passed: number;
  failed: number;
}

const cases = flatten(tests);
const run = cases.filter((one) => skipReason(one.path) === undefined);

describe('conformance', () => {
  it.each(run.map((one) => [one.path, one.test] as const))('%s', (_path, test) => {
    expect(runCase(test)).toBeUndefined();
  });

  it('passes at least 99 % of the core and 97 % of the extensions', () => {
    const core: Tally = { passed: 0, failed: 0 };
    const extensions: Tally = { passed: 0, failed: 0 };
    for (const one of run) {
      const tally = EXTENSIONS.has(one.section) ? extensions : core;
      if (runCase(one.test) === undefined) tally.passed += 1;
      else tally.failed += 1;
    }
    expect(core.passed / (core.passed + core.failed)).toBeGreaterThanOrEqual(0.99);
    expect(extensions.passed / (extensions.passed + extensions.failed)).toBeGreaterThanOrEqual(0.97);
    // So that a section cannot be lost to a skip without notice.
    expect(core.passed + core.failed).toBe(1_103);
    expect(extensions.passed + extensions.failed).toBe(544);
  });

  it('skips only existing cases that match the reason', () => {
    const needless = cases.filter(
      (one) => skipReason(one.path) === MESSAGES_REASON && !needsMessages(one.test),
    );
    expect(needless.map((one) => one.path)).toEqual([]);
    const stale = SKIPS.filter(
      ([path]) => !cases.some((one) => one.path === path || one.path.startsWith(`${path}/`)),
    );
    expect(stale).toEqual([]);
  });
});
