import { expect, it } from 'vitest';
import { compiledFilter } from '../../src/engine/pipeline.ts';

const PART = { type: 'quota', pointer: '/quota', config: {} };

it('a filter that keeps state has one, even if no outcome changes it: cases begin with a new one', () => {
  const keeping = compiledFilter(PART, {}, { initial: () => ({ used: 0 }) }, { used: 0 });
  expect(keeping.reduce).not.toBeNull();
  expect(compiledFilter(PART, {}, {}, null).reduce).toBeNull();
});
