import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void;

let collect: Collect | null = null;

/**
 * Returns the memory of garbage to the system. A check leaves much of it, and without further work the engine would keep it:
 * an editor runs beside many other programs.
 */
export function freeMemory(): void {
  if (collect === null) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as Collect;
    // Code that is cached with the option would be rejected at the next start.
    setFlagsFromString('--no-expose-gc');
  }
  collect({ type: 'major', flavor: 'last-resort' });
}
