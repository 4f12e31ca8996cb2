#!/usr/bin/env node
import nodeModule from 'node:module';
import { NODE_TOO_OLD, nodeIsTooOld } from './node_version.ts';

/** Exit codes: one cause, one code. */
export type Verb = (args: readonly string[]) => Promise<number>;

if (nodeIsTooOld(process.versions.node)) {
  process.stderr.write(`${NODE_TOO_OLD}\n`);
  process.exitCode = 2;
} else {
  // Modules compile once a version, not once a start: it halves the time to the first line. Old versions of Node have
  // no such function, and one that is imported by its name would keep them from saying that they are old.
  nodeModule.enableCompileCache();
  void start();
}

async function start(): Promise<void> {
  const { run } = await import('./run.ts');
  process.exitCode = await run(process.argv.slice(2));
}
