/** Programs of users that were loaded in this thread, such as an edge file in TypeScript. */

let loaded = 0;

/** Counts another one, and returns its number, from 1. */
export function countProgram(): number {
  return ++loaded;
}

/** Whether one was loaded: it may have left a timer or a server, which would keep the process alive. */
export function hasLoadedProgram(): boolean {
  return loaded > 0;
}
