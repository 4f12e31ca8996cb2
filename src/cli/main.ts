#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { NODE_TOO_OLD, nodeIsTooOld } from './node_version.ts';

/** Exit codes: one cause, one code. */
export type Verb = (args: readonly string[]) => Promise<number>;

// Modules compile once a version, not once a start: it halves the time to the first line.
enableCompileCache();

if (nodeIsTooOld(process.versions.node)) {
  process.stderr.write(`${NODE_TOO_OLD}\n`);
  process.exitCode = 2;
} else {
  const { run } = await import('./run.ts');
  process.exitCode = await run(process.argv.slice(2));
}
