import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { once } from 'node:events';

const SAVES = 11;
/** The watcher compares contents: it must have read the file before it is saved. */
const SETTLED_MS = 60;

/** Median of the time from saving a scenario file to the result of its cases, in milliseconds. */
export async function watchLoopMs(
  main: string,
  file: string,
  textOf: (turn: number) => string,
): Promise<number> {
  writeFileSync(file, textOf(0));
  const child = spawn(process.execPath, [main, 'test', '--watch', '-r', 'dot', file], {
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let heard = '';
  let told = Promise.withResolvers<void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    heard += text;
    if (/\d+ passed/.test(heard)) told.resolve();
  });
  const took: number[] = [];
  try {
    for (let turn = 1; turn <= SAVES + 1; turn++) {
      await told.promise;
      if (heard.includes('failed')) throw new Error(heard);
      await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
      [heard, told] = ['', Promise.withResolvers()];
      const began = performance.now();
      writeFileSync(file, textOf(turn));
      await told.promise;
      took.push(performance.now() - began);
    }
  } finally {
    child.kill('SIGINT');
    await once(child, 'close');
  }
  return took.sort((one, other) => one - other)[took.length >> 1]!;
}
