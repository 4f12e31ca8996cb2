#!/usr/bin/env node
import { cacheCompiledCode } from './code_cache.ts';
import { NODE_TOO_OLD, nodeIsTooOld, packageVersion } from './version.ts';

/** Runs a verb and resolves with its exit code. */
export type Verb = (args: readonly string[]) => Promise<number>;

if (nodeIsTooOld(process.versions.node)) {
  // `output.ts` may not run on such a version.
  console.error(NODE_TOO_OLD);
  process.exitCode = 2;
} else if (process.argv.length === 3 && /^(?:-V|--version)$/.test(process.argv[2]!)) {
  void printVersion();
} else {
  cacheCompiledCode(/^[a-z-]+$/.exec(process.argv[2] ?? '')?.[0] ?? 'none');
  void start();
}

/** Scripts ask for it often; the option parser would take as long as Node itself. */
async function printVersion(): Promise<void> {
  const { stdout } = await import('./output.ts');
  stdout.write(`${packageVersion()}\n`);
}

/** All that it needs is imported after the cache is set up. */
async function start(): Promise<void> {
  const [verbs, { isWritten }] = await Promise.all([import('./run.ts'), import('./output.ts')]);
  verbs.failForUnfinishedPrograms();
  process.exitCode = await verbs.run(process.argv.slice(2));
  // Node alone would end only when its threads have collected garbage and optimised, which nothing needs any more.
  if (isWritten() && isIdle()) process.exit();
  await verbs.endAfterPrograms();
}

/** Whether nothing keeps the process alive, as output that waits for its reader does. */
function isIdle(): boolean {
  return process.getActiveResourcesInfo().every((name) => name === 'PipeWrap' || name === 'TTYWrap');
}
