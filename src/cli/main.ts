#!/usr/bin/env node
import { cacheCompiledCode } from './code_cache.ts';
import { NODE_TOO_OLD, nodeIsTooOld } from './version.ts';

/** Runs a verb and resolves with its exit code. */
export type Verb = (args: readonly string[]) => Promise<number>;

if (nodeIsTooOld(process.versions.node)) {
  process.stderr.write(`${NODE_TOO_OLD}\n`);
  process.exitCode = 2;
} else {
  cacheCompiledCode(/^[a-z-]+$/.exec(process.argv[2] ?? '')?.[0] ?? 'none');
  void start();
}

async function start(): Promise<void> {
  const { run } = await import('./run.ts');
  process.exitCode = await run(process.argv.slice(2));
}
