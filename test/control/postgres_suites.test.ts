import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { IS_FULL } from '../random.ts';
import { hasPostgres } from './store/postgres_database.ts';

/** Suites of the API that say nothing of files. */
const SUITES = [
  'bodies',
  'bots',
  'contract',
  'dead_letters',
  'endpoints',
  'event_types',
  'linearizability',
  'list_filter',
  'managed_certificates',
  'nulls',
  'permissions',
  'permissions_of_operations',
  'public_api',
  'raw_requests',
  'sdk',
  'specification',
  'spellings',
  'streams',
  'sublists',
  'uris',
  'written_once',
];

const isThere = IS_FULL && (await hasPostgres('the suites of the API with a store in PostgreSQL'));

it.skipIf(!isThere)(
  'the suites of the API pass with a store in PostgreSQL, too',
  async () => {
    const root = join(import.meta.dirname, '../..');
    const files = SUITES.map((suite) => `test/control/${suite}.test.ts`);
    const env = { ...process.env, EDGEPROOF_TEST_STORE: 'postgres', EDGEPROOF_TEST_SIZE: 'small' };
    const main = join(root, 'node_modules/vitest/vitest.mjs');
    const ran = await promisify(execFile)(process.execPath, [main, 'run', ...files], {
      cwd: root,
      env,
      maxBuffer: 2 ** 26,
    }).catch((error: { readonly stdout: string; readonly stderr: string }) => error);
    expect(ran).not.toBeInstanceOf(Error);
    expect(ran.stdout).toMatch(new RegExp(`${SUITES.length} passed`));
  },
  600_000,
);
