import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import nodeModule from 'node:module';
import { basename, dirname, join } from 'node:path';
import { Script, constants } from 'node:vm';
import { isSingleExecutable } from '../loading/single_executable.ts';
import { withOriginalFlags } from './v8_flags.ts';

type Compiled = (
  exports: unknown,
  require: NodeJS.Require,
  module: NodeJS.Module,
  file: string,
  folder: string,
) => void;

/** A longer run writes its cache after this time, because V8 drops compiled code that is not used again. */
const LONG_RUN_MS = 2_000;
const WRITABLE_BY_OTHERS = 0o022;

/**
 * Caches the compiled code of the packaged files, separately for each verb. Node's own compile cache holds what is
 * compiled while a file loads; almost all functions are compiled later, at their first call. So this cache is written
 * when the run ends. V8 validates cached code and compiles what it rejects.
 */
export function cacheCompiledCode(verb: string): void {
  nodeModule.enableCompileCache();
  const cacheFolder = nodeModule.getCompileCacheDir();
  if (cacheFolder === undefined || !isPrivate(cacheFolder)) return;
  // Node warns about the loader of `import()` that scripts get here; users can do nothing about it.
  const warn = process.emitWarning.bind(process) as (...values: unknown[]) => void;
  process.emitWarning = (...values: unknown[]) => {
    if (!String(values[0]).includes('USE_MAIN_CONTEXT_DEFAULT_LOADER')) warn(...values);
  };
  const { extensions } = nodeModule.createRequire(import.meta.filename);
  const byNode = extensions['.js'];
  const unsaved: (() => void)[] = [];
  const saveAll = (): void => withOriginalFlags(() => unsaved.splice(0).forEach((save) => save()));
  extensions['.cjs'] = (module, file) => {
    if (dirname(file) !== import.meta.dirname) return byNode(module, file);
    const { size, mtimeMs, ino } = statSync(isSingleExecutable ? process.execPath : file);
    const path = join(cacheFolder, `edgeproof-${verb}-${basename(file)}-${ino}-${size}-${mtimeMs}`);
    const cachedData = readIfPresent(path);
    const code = `(function(exports,require,module,__filename,__dirname){${readFileSync(file, 'utf8')}\n})`;
    const script = withOriginalFlags(
      () =>
        new Script(code, {
          filename: file,
          ...(cachedData && { cachedData }),
          importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
        }),
    );
    if (cachedData === undefined || script.cachedDataRejected === true) {
      unsaved.push(() => write(script, path));
    }
    const run = script.runInThisContext() as Compiled;
    run(module.exports, nodeModule.createRequire(file), module, file, dirname(file));
  };
  setTimeout(saveAll, LONG_RUN_MS).unref();
  process.once('exit', saveAll);
}

/** Whether no other user can write to the folder: cached code is executed. */
function isPrivate(folder: string): boolean {
  const { uid, mode } = statSync(folder);
  return process.getuid === undefined || (uid === process.getuid() && (mode & WRITABLE_BY_OTHERS) === 0);
}

function readIfPresent(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

/** Writes to a temporary file and renames it, so that other processes never read a partial one. */
function write(script: Script, path: string): void {
  try {
    writeFileSync(`${path}.${process.pid}`, script.createCachedData());
    renameSync(`${path}.${process.pid}`, path);
  } catch {
    // Without the cache, only the next start is slower.
  }
}
