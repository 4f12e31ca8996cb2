#!/usr/bin/env node
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import nodeModule from 'node:module';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { NODE_TOO_OLD, nodeIsTooOld } from './node_version.ts';
import type { run as runVerb } from './run.ts';

/*
 * How the packaged command starts. The compile cache of Node keeps what is compiled when a file is loaded, and nearly
 * all functions are compiled later, when they are first called. So the files of the command are loaded here, and what
 * had been compiled when a run ended is kept beside Node's own cache, for each verb; V8 checks what it is given, and
 * what it does not take is compiled as ever.
 */

interface Loaded {
  exports: unknown;
}

type Load = (name: string) => unknown;
type Import = (specifier: string) => Promise<unknown>;
type Wrapper = (
  exports: unknown,
  require: Load,
  module: Loaded,
  filename: string,
  dirname: string,
  importModule: Import,
) => void;

/** A run that takes longer than this keeps what it has compiled so far: V8 forgets code that is not used again. */
const LONG_RUN_MS = 2_000;

/**
 * Cases are over before it pays to make fast code of what they run: it is made later than usual. Of verbs that run for
 * long the opposite holds.
 */
const LATE_VERBS: ReadonlySet<string> = new Set(['test']);
const LATE = '--invocation-count-for-maglev=2000';
/** Versions of V8 that are known to have the flag: others would complain. */
const KNOWN_V8 = /^1[34]\./;

const WRITABLE_BY_OTHERS = 0o022;

const verb = /^[a-z]+$/.exec(process.argv[2] ?? '')?.[0] ?? 'none';
const loaded = new Map<string, Loaded>();
const fresh: (() => void)[] = [];
const besides = nodeModule.createRequire(import.meta.filename);

function load(id: string): unknown {
  if (!id.startsWith('./')) return besides(id) as unknown;
  const known = loaded.get(id);
  if (known !== undefined) return known.exports;
  const file = join(import.meta.dirname, id);
  const module: Loaded = { exports: {} };
  loaded.set(id, module);
  const wrapper = compiled(file, keptPath(id, file)).runInThisContext() as Wrapper;
  wrapper(module.exports, load, module, file, import.meta.dirname, importModule);
  return module.exports;
}

/** What the files call in the place of `import()`, which works in files that Node has loaded itself. */
const importModule: Import = (specifier) => import(specifier) as Promise<unknown>;

function compiled(file: string, kept: string | null): Script {
  const cachedData = kept === null ? undefined : readIfThere(kept);
  const script = new Script(
    `(function(exports,require,module,__filename,__dirname,importModule){${readFileSync(file, 'latin1')}\n})`,
    { filename: file, ...(cachedData && { cachedData }) },
  );
  if (kept !== null && (cachedData === undefined || script.cachedDataRejected === true))
    fresh.push(() => keep(script, kept));
  return script;
}

/** Where the code of a file is kept for this verb; null where nothing may be kept. */
function keptPath(id: string, file: string): string | null {
  const folder = nodeModule.getCompileCacheDir();
  if (folder === undefined || !isOwn(folder)) return null;
  const { size, mtimeMs, ino } = statSync(file);
  return join(folder, `edgeproof-${verb}-${id.slice(2)}-${ino}-${size}-${mtimeMs}`);
}

/** Whether nobody else can have put code there: the folder is below one that all may write to. */
function isOwn(folder: string): boolean {
  const { uid, mode } = statSync(folder);
  return process.getuid === undefined || (uid === process.getuid() && (mode & WRITABLE_BY_OTHERS) === 0);
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

/** Whoever reads meanwhile sees all of it or nothing. */
function keep(script: Script, path: string): void {
  try {
    writeFileSync(`${path}.${process.pid}`, script.createCachedData());
    renameSync(`${path}.${process.pid}`, path);
  } catch {
    // A cache that cannot be written costs time, and nothing else.
  }
}

function keepFresh(): void {
  for (const each of fresh.splice(0)) each();
}

if (nodeIsTooOld(process.versions.node)) {
  process.stderr.write(`${NODE_TOO_OLD}\n`);
  process.exitCode = 2;
} else {
  nodeModule.enableCompileCache();
  if (LATE_VERBS.has(verb) && KNOWN_V8.test(process.versions.v8))
    process.getBuiltinModule('node:v8').setFlagsFromString(LATE);
  setTimeout(keepFresh, LONG_RUN_MS).unref();
  process.once('exit', keepFresh);
  void start();
}

async function start(): Promise<void> {
  const { run } = load('./run.js') as { readonly run: typeof runVerb };
  process.exitCode = await run(process.argv.slice(2));
  // Nothing is left to do when this is heard: taking the heap apart would only take time.
  process.once('exit', () => process.exit());
}
