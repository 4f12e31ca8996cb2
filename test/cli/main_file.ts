import { fileURLToPath } from 'node:url';
import { ensureBuilt } from '../built.ts';

/** The command that tests run: the current build, which is what users get. */
export const MAIN = fileURLToPath(new URL('../../dist/lib/main.cjs', import.meta.url));

await ensureBuilt();
