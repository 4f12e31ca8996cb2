/** A flag of V8 that a verb sets for its process, and the one that V8 starts with. */
interface Flag {
  readonly set: string;
  readonly original: string;
}

const changed: Flag[] = [];

/** Loading `node:v8` takes milliseconds, and every verb loads this file. */
function setAll(flags: readonly string[]): void {
  if (flags.length === 0) return;
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  for (const flag of flags) setFlagsFromString(flag);
}

/** Sets a flag for the rest of the process. */
export function setFlag(flag: Flag): void {
  setAll([flag.set]);
  changed.push(flag);
}

/** Does something with the flags that V8 starts with: it rejects cached code of a process with others. */
export function withOriginalFlags(act: () => void): void {
  setAll(changed.map(({ original }) => original));
  try {
    act();
  } finally {
    setAll(changed.map(({ set }) => set));
  }
}
