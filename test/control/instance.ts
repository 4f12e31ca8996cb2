import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backUp } from '../../src/control/backup.ts';
import { type Management, type ManagementOptions, openManagement } from '../../src/control/management.ts';
import { newSealingKey } from '../../src/crypto/sealing.ts';
import { newDatabase } from './store/postgres_database.ts';
import type { ApiListening } from '../../src/control/api/listen.ts';

/** Whether instances have their store in PostgreSQL (`EDGEPROOF_TEST_STORE=postgres`) instead of a file. */
const IS_POSTGRES = process.env['EDGEPROOF_TEST_STORE'] === 'postgres';

/** An answer of the API, read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read answers of every shape
  readonly body: any;
}

/** The API on a socket, with a store of its own. */
export interface Instance {
  readonly management: Management;
  readonly url: string;
  readonly folder: string;
  readonly key: string;
  readonly call: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<Answer>;
  /** Makes an object and gives it; throws when it is refused. */
  readonly make: (path: string, body: unknown) => Promise<Answer['body']>;
  /** Another instance with a copy of the store, as after a restart. */
  readonly reopened: () => Promise<Management>;
  readonly close: () => Promise<void>;
}

export async function startInstance(options: Partial<ManagementOptions> = {}): Promise<Instance> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeproof-api-'));
  const places = { ...(await storeIn(folder)), eventFiles: join(folder, 'events') };
  const management = await openManagement({ ...places, ...options });
  const listening: ApiListening = await management.listen();
  const key = management.firstKey!;
  const service = options.service ?? 'service';
  let copies = 0;
  const call: Instance['call'] = async (method, path, body, headers = {}) => {
    const sent = {
      authorization: `Bearer ${key}`,
      [`${service}-version`]: '2',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    };
    const response = await fetch(listening.url + path, {
      method,
      headers: Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== '')),
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? null : JSON.parse(text),
    };
  };
  return {
    management,
    url: listening.url,
    folder,
    key,
    call,
    make: async (path, body) => {
      const answer = await call('POST', path, body);
      if (answer.status !== 201) throw new Error(`POST ${path}: ${JSON.stringify(answer.body)}`);
      return answer.body;
    },
    reopened: () => {
      const copy = join(folder, `copy${copies++}.db`);
      backUp(places.storePath, copy, { withKey: true });
      return openManagement({ ...options, storePath: copy });
    },
    close: async () => {
      await listening.close();
      await management.close();
      await places.drop?.();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A store of its own: in a file, or in a database where the run asks for it. */
async function storeIn(
  folder: string,
): Promise<Pick<ManagementOptions, 'storePath' | 'sealing'> & { drop?: () => Promise<unknown> }> {
  if (!IS_POSTGRES) return { storePath: join(folder, 'store.db') };
  const { url, drop } = await newDatabase();
  const keyFile = join(folder, 'key');
  writeFileSync(keyFile, newSealingKey(), { mode: 0o600 });
  return { storePath: url, sealing: { keyFile }, drop };
}
