import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * The command that tests run: what was built, where `EDGEPROOF_TEST_BUILT` is set, which is what users get and starts
 * many times as fast; else the sources, which are never out of date.
 */
export const MAIN = fileURLToPath(
  new URL(
    process.env['EDGEPROOF_TEST_BUILT'] ? '../../dist/bin/main.js' : '../../src/cli/main.ts',
    import.meta.url,
  ),
);

if (!existsSync(MAIN)) throw new Error('EDGEPROOF_TEST_BUILT is set and nothing is built: npm run build');
