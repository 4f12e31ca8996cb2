import { createRequire } from 'node:module';
import { isSingleExecutable } from './single_executable.ts';

/** The binary has no packages beside it: its users install them where they work. */
const require = createRequire(isSingleExecutable ? `${process.cwd()}/` : import.meta.filename);

/**
 * Loads a package that only users of one feature install. Throws with the command that installs it; a later call
 * tries again.
 */
export function requireOptionalPeer(name: string, purpose: string): unknown {
  try {
    return require(name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    throw new Error(`${purpose} needs a package that is not installed: npm install ${name}`, {
      cause: error,
    });
  }
}
