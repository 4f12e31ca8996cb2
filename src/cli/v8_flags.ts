import { setFlagsFromString } from 'node:v8';

/** A flag of V8 that a verb sets for its process, and the one that V8 starts with. */
interface Flag {
  readonly set: string;
  readonly original: string;
}

const changed: Flag[] = [];

/** Sets a flag for the rest of the process. */
export function setFlag(flag: Flag): void {
  setFlagsFromString(flag.set);
  changed.push(flag);
}

/** Does something with the flags that V8 starts with: it rejects cached code of a process with others. */
export function withOriginalFlags(act: () => void): void {
  for (const { original } of changed) setFlagsFromString(original);
  try {
    act();
  } finally {
    for (const { set } of changed) setFlagsFromString(set);
  }
}
