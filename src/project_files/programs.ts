/** Programs of users that are run in this thread, such as an edge file in TypeScript. */

let count = 0;
const unfinished = new Set<string>();

/** Reports a program that ends its thread or process, or never settles: a verb would seem to have succeeded. */
function reportUnfinished(): void {
  for (const path of unfinished) {
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
  unfinished.add(path);
  try {
    return await load(++count);
  } finally {
    unfinished.delete(path);
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
