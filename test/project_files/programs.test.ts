import { expect, test } from 'vitest';
import { isProgramUnfinished, runProgram } from '../../src/project_files/programs.ts';

test('a program is unfinished while one of two runs of it is', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const slow = runProgram('edge.ts', () => promise);
  await runProgram('edge.ts', () => Promise.resolve('quick'));
  expect(isProgramUnfinished()).toBe(true);
  resolve('slow');
  expect(await slow).toBe('slow');
  expect(isProgramUnfinished()).toBe(false);
});
