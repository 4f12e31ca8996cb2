#!/usr/bin/env node
import { cacheCompiledCode } from './code_cache.ts';
import { NODE_TOO_OLD, nodeIsTooOld, packageVersion } from './version.ts';

/** Runs a verb and resolves with its exit code. */
export type Verb = (args: readonly string[]) => Promise<number>;

if (nodeIsTooOld(process.versions.node)) {
  process.stderr.write(`${NODE_TOO_OLD}\n`);
  process.exitCode = 2;
} else if (process.argv.length === 3 && /^(?:-V|--version)$/.test(process.argv[2]!)) {
  // Scripts ask for it often; the option parser would take as long as Node itself.
  process.stdout.write(`${packageVersion()}\n`);
} else {
  cacheCompiledCode(/^[a-z-]+$/.exec(process.argv[2] ?? '')?.[0] ?? 'none');
  void start();
}

async function start(): Promise<void> {
  const { run } = await import('./run.ts');
  process.exitCode = await run(process.argv.slice(2));
  if (isIdle()) process.exit();
}

/**
 * Whether nothing keeps the process alive, as output that waits for its reader does. Node alone would end only when its
 * threads have collected garbage and optimised, which nothing needs any more.
 */
function isIdle(): boolean {
  const isWritten = [process.stdout, process.stderr].every(({ errored }) => errored === null);
  return (
    isWritten && process.getActiveResourcesInfo().every((name) => name === 'PipeWrap' || name === 'TTYWrap')
  );
}
