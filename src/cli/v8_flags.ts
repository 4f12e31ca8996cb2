/** A flag that V8 compares when it loads cached code: as a verb sets it for its process, and as V8 starts. */
interface Flag {
  readonly set: string;
  readonly original: string;
}

/** The flags that were set, by their original values. */
const changed = new Map<string, Flag>();

/** Loading it takes milliseconds, and every verb loads this file. */
export const nodeV8 = () => process.getBuiltinModule('node:v8');

function setAll(value: keyof Flag): void {
  for (const flag of changed.values()) nodeV8().setFlagsFromString(flag[value]);
}

/** Sets a flag until it is set again. */
export function setFlag(flag: Flag): void {
  changed.set(flag.original, flag);
  nodeV8().setFlagsFromString(flag.set);
}

/** Does something with the flags that V8 starts with: it rejects code that was cached with others. */
export function withOriginalFlags<Made>(act: () => Made): Made {
  setAll('original');
  try {
    return act();
  } finally {
    setAll('set');
  }
}
