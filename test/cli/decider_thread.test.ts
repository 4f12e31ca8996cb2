import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { threadDecider } from '../../src/cli/decider_thread.ts';

/** Longer than any question takes here. */
const NO_LIMIT_MS = 600_000;

/** A decider whose threads run these programs, one after the other. */
function decider(programs: readonly string[], questionMs = NO_LIMIT_MS) {
  const left = [...programs];
  const started: Worker[] = [];
  const made = threadDecider(
    () => {
      const worker = new Worker(left.shift()!, { eval: true });
      started.push(worker);
      return worker;
    },
    { questionMs, idleMs: NO_LIMIT_MS },
  );
  onTestFinished(() => made.close());
  return { ...made, started };
}

const answers = (code: string): string =>
  `const { parentPort } = require('node:worker_threads'); parentPort.on('message', (asked) => { ${code} });`;
const ECHO = answers(`parentPort.postMessage({ value: asked.given })`);

test('a thread that does not answer in time is replaced, and the next question begins again', async () => {
  const { coverage, remembers, started } = decider([answers(''), ECHO], 5_000);
  expect(remembers()).toBe(false);
  await expect(coverage('a')).rejects.toThrow('took more than 5 s, and was stopped');
  expect(remembers()).toBe(false);
  expect(await coverage('b')).toBe('b');
  expect([remembers(), started.length]).toEqual([true, 2]);
});

test('a thread that ends or fails is replaced; refusals and faults differ', async () => {
  const { coverage, remembers } = decider([
    answers('process.exit(1)'),
    answers('throw new Error("broken")'),
    answers(`parentPort.postMessage(asked.given === 'r' ? { refused: 'no file' } : { failed: 'a bug' })`),
  ]);
  await expect(coverage('a')).rejects.toThrow('has ended');
  await expect(coverage('a')).rejects.toThrow('broken');
  await expect(coverage('r')).rejects.toMatchObject({ name: 'FileError', message: 'no file' });
  await expect(coverage('f')).rejects.toMatchObject({ name: 'Error', message: 'a bug' });
  expect(remembers()).toBe(true);
});

test('questions are answered in turn; a decider that closes answers none', async () => {
  const { coverage, close, started } = decider([ECHO, answers('')]);
  expect(await Promise.all(['a', 'b', 'c'].map((each) => coverage(each)))).toEqual(['a', 'b', 'c']);
  expect(started).toHaveLength(1);
  await close();
  const asked = coverage('d');
  asked.catch(() => undefined);
  await expect.poll(() => started.length).toBe(2);
  await close();
  await expect(asked).rejects.toThrow('has ended');
});
