import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RESOURCES } from '../../src/control/resources/table.ts';
import { IS_FULL, runs, seeded } from '../random.ts';
import { type Instance, startInstance } from './instance.ts';
import { type Sent, mutatedBody, mutatedRequest } from './request_mutations.ts';
import { SAMPLES } from './samples.ts';
import { type Schema, pick, sampleOf } from './schema_samples.ts';

/**
 * Mutations of valid requests of every operation: no answer is 500, each has a documented form, and the store stays one
 * that starts.
 */

/** In the fast run about one for each operation. */
const RUNS = IS_FULL ? runs(10_000) : 260;

interface Described {
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } };
  readonly responses: Readonly<Record<string, unknown>>;
}

interface Operation extends Described {
  readonly method: string;
  readonly path: string;
}

let instance: Instance;
let operations: Operation[];
const random = seeded(19);
/** Ids of objects that exist, or did. */
const ids: string[] = [];

beforeAll(async () => {
  instance = await startInstance({ delivery: { say: () => undefined } });
  const { body } = await instance.call('GET', '/openapi.json');
  const paths = Object.entries(body.paths as Record<string, Record<string, Described>>);
  operations = paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) =>
      Object.assign({}, described, { method: method.toUpperCase(), path }),
    ),
  );
  const { id: edge } = await instance.make('/edges/https', {});
  ids.push(edge);
  for (const { kind, path } of RESOURCES) {
    const made = await SAMPLES[kind]!.create(instance, ids.length);
    ids.push((await instance.make(path.replace(/\{\w+\}/, edge), made)).id);
  }
});
afterAll(() => instance.close());

/** A request of an operation, with a body that its schema describes or that of a sample. */
async function validRequest(
  { method, path, requestBody }: Operation,
  number: number,
): Promise<Sent & { value: unknown }> {
  const resource = RESOURCES.find((each) => each.path === path || `${each.path}/{id}` === path);
  // The last ones are of the present run, the first ones of each kind.
  const someId = (): string => pick(ids, random);
  const at = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const prefix = name === 'id' ? resource?.prefix : 'edghts';
    const fitting = ids.filter((id) => prefix !== undefined && id.startsWith(`${prefix}_`));
    return fitting.length === 0 || random() < 0.1 ? someId() : pick(fitting, random);
  });
  const headers = { authorization: `Bearer ${instance.key}`, 'service-version': '2' };
  const schema = requestBody?.content['application/json'].schema;
  if (schema === undefined) return { method, path: at, headers, body: null, value: null };
  const sample = resource === undefined ? undefined : SAMPLES[resource.kind];
  const isSample = sample !== undefined && random() < 0.6;
  const isFile = path === '/edge_file';
  const value = isFile
    ? (await instance.call('GET', path)).body.document
    : isSample
      ? method === 'POST'
        ? await sample.create(instance, 100 + number)
        : sample.update
      : sampleOf(schema, { random, someId });
  const typed = { ...headers, 'content-type': 'application/json' };
  const query = isFile && random() < 0.5 ? '?dry_run=true' : '';
  return { method, path: at + query, headers: typed, body: JSON.stringify(value), value };
}

function mutated(request: Sent & { value: unknown }): Sent {
  const { value, ...sent } = request;
  const how = random();
  if (how < 0.2) return sent;
  if (sent.body === null || how < 0.5) return mutatedRequest(sent, ids, random);
  return { ...sent, body: mutatedBody(value, ids, random) };
}

interface ErrorBody {
  readonly error_code?: string;
  readonly status_code: number;
  readonly msg: unknown;
  readonly details: Readonly<Record<string, unknown>>;
}

/** What is wrong with an answer; null if nothing is. */
function departure({ responses }: Described, status: number, headers: Headers, text: string): string | null {
  const operation = headers.get('service-operation-id') ?? '';
  if (!/^op_[0-9a-z]{27}$/.test(operation)) return 'no operation id';
  if (status >= 500) return 'a failure of the server';
  if (status < 300) return Object.hasOwn(responses, String(status)) ? null : 'not a documented status';
  const { error_code: code, status_code: told, msg, details } = JSON.parse(text) as ErrorBody;
  if (told !== status || typeof msg !== 'string') return 'not the form of an error';
  if (details['operation_id'] !== operation) return 'another operation id';
  if (!Object.values(details).every((each) => typeof each === 'string')) return 'details are not texts';
  if (code === undefined) return msg === 'Not Found' ? null : 'no error code';
  return /^ERR_SERVICE_\d+$/.test(code) ? null : 'not an error code';
}

it(`${RUNS} mutated requests of all operations get documented answers and keep the store sound`, async () => {
  const met = new Set<Operation>();
  const statuses = new Map<number, number>();
  for (let number = 0; number < RUNS; number++) {
    const operation = operations[number % operations.length]!;
    const sent = mutated(await validRequest(operation, number));
    const { method, path, headers, body } = sent;
    const response = await fetch(new URL(instance.url + path), {
      method,
      headers,
      // The last methods may have no body in `fetch`.
      ...(body !== null && method !== 'GET' && { body: body as BodyInit }),
    });
    const text = await response.text();
    // A changed method or path may be of another operation.
    const known = { responses: { ...operation.responses, 200: 1, 201: 1, 204: 1 } };
    const wrong = departure(known, response.status, response.headers, text);
    const shown = typeof body === 'string' ? body : body && Buffer.from(body).toString('latin1');
    if (wrong !== null) {
      throw new Error(
        `${number}: ${wrong}\n${method} ${path}\n${shown?.slice(0, 2_000)}\n${response.status} ${text}`,
      );
    }
    met.add(operation);
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
    if (response.status === 201) ids.push(String((JSON.parse(text) as { id?: string }).id ?? ids[0]));
  }
  expect(met.size).toBe(Math.min(RUNS, operations.length));
  // Neither are all mutations refused, nor are all taken.
  const count = (least: number) =>
    [...statuses].filter(([status]) => status >= least).reduce((sum, [, each]) => sum + each, 0);
  expect(count(400)).toBeGreaterThan(RUNS / 4);
  expect(count(200) - count(400)).toBeGreaterThan(RUNS / 20);
});

it('the store of those requests is sound: it is whole, starts again, and its export changes nothing', async () => {
  const database = new DatabaseSync(join(instance.folder, 'store.db'), { readOnly: true });
  expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  expect(database.prepare('PRAGMA foreign_key_check').all()).toEqual([]);
  database.close();
  for (const { path, operations: possible } of RESOURCES) {
    if (!possible.includes('list')) continue;
    expect([path, (await instance.call('GET', path)).status]).toEqual([path, 200]);
  }
  const { body } = await instance.call('GET', '/edge_file');
  expect((await instance.call('PUT', '/edge_file', body.document)).body).toMatchObject({ steps: [] });
  const again = await instance.reopened();
  const hosts = ({ edge }: Pick<Instance['management'], 'edge'>) =>
    Object.values(edge.config.edges.https).map(({ hostports }) => hostports.join());
  expect(hosts(again).toSorted()).toEqual(hosts(instance.management).toSorted());
  await again.close();
});
