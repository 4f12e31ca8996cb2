/** Programs of users that are run in this thread, such as an edge file in TypeScript. */

let count = 0;
/** Paths of programs by the number of their run: a program may be loaded again before an earlier run of it settles. */
const unfinished = new Map<number, string>();

/** Reports a program that ends its thread or process, or never settles: a verb would seem to have succeeded. */
function reportUnfinished(): void {
  for (const path of new Set(unfinished.values())) {
    process.stderr.write(
      `cannot load ${path}: the process ended before the program did; it must not call process.exit, and what it awaits has to settle\n`,
    );
  }
}

/** Runs the program of a file with `load`, which gets a number that no other run has. */
export async function runProgram<Loaded>(
  path: string,
  load: (number: number) => Promise<Loaded>,
): Promise<Loaded> {
  if (count === 0) process.once('exit', reportUnfinished);
  const number = ++count;
  unfinished.set(number, path);
  try {
    return await load(number);
  } finally {
    unfinished.delete(number);
  }
}

/** Whether one has not run to its end. */
export function isProgramUnfinished(): boolean {
  return unfinished.size > 0;
}

/** Whether one was run: it may have left a timer or a server, which would keep the process alive. */
export function hasRunProgram(): boolean {
  return count > 0;
}
