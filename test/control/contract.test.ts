import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Resource } from '../../src/control/resources/contract.ts';
import { RESOURCES } from '../../src/control/resources/table.ts';
import { type Instance, startInstance } from './instance.ts';
import { IS_FULL } from '../random.ts';
import { SAMPLES } from './samples.ts';

/** What every resource promises, generated from the table. */

let instance: Instance;
let edgeId: string;
let count = 0;

beforeAll(async () => {
  instance = await startInstance();
  edgeId = (await instance.make('/edges/https', { hostports: ['contract.test:443'] })).id;
});
afterAll(() => instance.close());

const pathOf = ({ path }: Resource): string => path.replace('{edge_id}', edgeId);
const sampleOf = async ({ kind }: Resource) => SAMPLES[kind]!.create(instance, ++count);

/** Makes an object, and frees what only one may have. */
async function make(resource: Resource) {
  return instance.make(pathOf(resource), await sampleOf(resource));
}

async function discard(resource: Resource, id: string) {
  const answer = await instance.call('DELETE', `${pathOf(resource)}/${id}`);
  expect(answer.status).toBe(204);
}

/** Field, limit in bytes. */
function limitsOf(resource: Resource): (readonly [name: string, limitBytes: number])[] {
  return Object.entries(resource.fields).flatMap(([name, { write }]) => {
    const limit = write?.schema.meta()?.['maxBytes'];
    return typeof limit === 'number' ? [[name, limit] as const] : [];
  });
}

/** A create body with one reference replaced by another id, for each field that refers to something. */
async function withReference(resource: Resource, id: string) {
  const bodies: (readonly [name: string, body: Record<string, unknown>])[] = [];
  for (const [name, field] of Object.entries(resource.fields)) {
    if (field.refers === undefined || field.write?.create === 'refused') continue;
    const body = await sampleOf(resource);
    const before = body[name];
    const modules: Record<string, unknown> = {
      backend: { backend_id: id },
      ip_restriction: { ip_policy_ids: [id] },
      mutual_tls: { certificate_authority_ids: [id] },
      backends: Array.isArray(before) ? [id] : { [id]: 1 },
    };
    bodies.push([name, { ...body, [name]: modules[name] ?? (name.endsWith('_ids') ? [id] : id) }]);
  }
  return bodies;
}

/** Abuse reports can only be created and read. */
const CHANGING = RESOURCES.filter(({ operations }) => operations.includes('delete'));

describe.each(CHANGING.map((resource) => [resource.path, resource] as const))('%s', (_path, resource) => {
  const has = (operation: Resource['operations'][number]) => resource.operations.includes(operation);

  it('creates, reads, lists and deletes', async () => {
    const made = await make(resource);
    expect(made.id).toMatch(new RegExp(`^${resource.prefix}_[0-9a-z]{27}$`));
    expect(made.uri).toBe(`${instance.url}${pathOf(resource)}/${made.id}`);
    expect(made.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);

    const got = await instance.call('GET', `${pathOf(resource)}/${made.id}`);
    expect(got.status).toBe(200);
    expect(got.headers.get('content-type')).toBe('application/json');
    expect(Object.keys(got.body)).toEqual(Object.keys(got.body).toSorted());
    expect(Object.keys(got.body).toSorted()).toEqual(Object.keys(made).toSorted());
    expect(got.body.token ?? null).toBeNull();

    const deleted = await instance.call('DELETE', `${pathOf(resource)}/${made.id}`);
    expect([deleted.status, deleted.body]).toEqual([204, null]);
    expect((await instance.call('GET', `${pathOf(resource)}/${made.id}`)).status).toBe(404);
    expect((await instance.call('DELETE', `${pathOf(resource)}/${made.id}`)).status).toBe(404);
  });

  it.each(has('list') ? ['lists'] : [])('%s with the documented envelope', async () => {
    const made = await make(resource);
    const got = await instance.call('GET', `${pathOf(resource)}/${made.id}`);
    const { body } = await instance.call('GET', `${pathOf(resource)}?limit=1`);
    expect(Object.keys(body).toSorted()).toEqual([resource.listKey, 'next_page_uri', 'uri'].toSorted());
    expect(body[resource.listKey][0]).toEqual(got.body);
    expect(body.uri).toBe(instance.url + pathOf(resource));
    await discard(resource, made.id);
  });

  it('updates given fields, keeps the others, and refuses immutable ones', async () => {
    const made = await make(resource);
    const path = `${pathOf(resource)}/${made.id}`;
    const { body: before } = await instance.call('GET', path);
    const answer = await instance.call('PATCH', path, { id: made.id, ...SAMPLES[resource.kind]!.update });
    expect(answer.status).toBe(200);
    const kept = Object.keys(before).filter((name) => {
      const isGiven =
        name in SAMPLES[resource.kind]!.update || resource.fields[name]?.write?.update === 'empties';
      return !isGiven && !['updated_at', 'status'].includes(name);
    });
    for (const name of kept) expect([name, answer.body[name]]).toEqual([name, before[name]]);
    for (const [name, { write }] of Object.entries(resource.fields)) {
      if (write?.update !== 'refused') continue;
      const refused = await instance.call('PATCH', path, { [name]: 'x' });
      expect([name, refused.status, refused.body.error_code]).toEqual([name, 400, 'ERR_SERVICE_214']);
    }
    const other = await instance.call('PATCH', path, { id: `${resource.prefix}_other`, metadata: 'x' });
    expect([other.status, other.body.error_code]).toEqual([400, 'ERR_SERVICE_7110']);
    await discard(resource, made.id);
  });

  it('limits texts in bytes', async () => {
    for (const [name, limit] of limitsOf(resource)) {
      const texts = [
        ['é'.repeat(Math.floor(limit / 2)) + 'x'.repeat(limit % 2), true],
        ['é'.repeat(Math.floor(limit / 2) + 1), false],
        ['x'.repeat(limit + 1), false],
        ['x'.repeat(limit), true],
        ['x'.repeat(limit - 1), true],
        ['😀'.repeat(Math.floor(limit / 4) + 1), false],
      ] as const;
      // The first three show that bytes are counted, and on which side of the limit a text is.
      for (const [text, isTaken] of texts.slice(0, IS_FULL ? texts.length : 3)) {
        const answer = await instance.call('POST', pathOf(resource), {
          ...(await sampleOf(resource)),
          [name]: text,
        });
        const told = isTaken ? undefined : `/${name}`;
        const bytes = Buffer.byteLength(text);
        expect([name, bytes, answer.status, answer.body.details?.pointer]).toEqual([
          name,
          bytes,
          isTaken ? 201 : 400,
          told,
        ]);
        if (isTaken) await discard(resource, answer.body.id);
      }
    }
  });

  it('refuses unknown fields, wrong types and bodies other than objects', async () => {
    const body = await sampleOf(resource);
    const unknown = await instance.call('POST', pathOf(resource), { ...body, colour: 'red' });
    expect(unknown.body).toMatchObject({ error_code: 'ERR_SERVICE_214', details: { pointer: '/colour' } });
    for (const name of Object.keys(resource.fields)) {
      if (resource.fields[name]!.write === undefined) continue;
      const wrong = await instance.call('POST', pathOf(resource), { ...body, [name]: [[17]] });
      expect([name, wrong.status]).toEqual([name, 400]);
      expect(wrong.body.details.pointer.startsWith(`/${name}`)).toBe(true);
    }
    for (const raw of ['[]', '"x"', '17', 'null']) {
      expect((await instance.call('POST', pathOf(resource), raw)).body.error_code).toBe('ERR_SERVICE_215');
    }
    for (const raw of ['', '{', 'ts_1']) {
      const answer = await instance.call('POST', pathOf(resource), raw);
      expect([answer.status, answer.body.error_code]).toEqual([400, 'ERR_SERVICE_213']);
    }
  });

  it('refuses a creation without required fields', async () => {
    for (const [name, { write }] of Object.entries(resource.fields)) {
      if (write?.create !== 'required') continue;
      const { [name]: _left, ...body } = await sampleOf(resource);
      const answer = await instance.call('POST', pathOf(resource), body);
      expect([name, answer.status, answer.body.details.pointer]).toEqual([name, 400, `/${name}`]);
    }
  });

  it('refuses references to missing objects and to other kinds', async () => {
    for (const id of ['vaultless_x', `ak_${'0'.repeat(27)}`]) {
      for (const [name, body] of await withReference(resource, id)) {
        const answer = await instance.call('POST', pathOf(resource), body);
        expect([name, id, answer.status]).toEqual([name, id, 400]);
        expect(answer.body.details.pointer.startsWith(`/${name}`)).toBe(true);
      }
    }
    for (const [name, body] of await withReference(resource, `ipp_${'0'.repeat(27)}`)) {
      const answer = await instance.call('POST', pathOf(resource), body);
      expect([name, answer.status]).toEqual([name, 400]);
    }
  });

  it('refuses every operation without a key', async () => {
    const path = `${pathOf(resource)}/${resource.prefix}_1`;
    const calls = [
      ['POST', pathOf(resource), {}],
      ['GET', path, undefined],
      ['PATCH', path, {}],
      ['DELETE', path, undefined],
      ...(has('list') ? [['GET', pathOf(resource), undefined] as const] : []),
    ] as const;
    for (const [method, at, body] of calls) {
      const answer = await instance.call(method, at, body, { authorization: '' });
      expect([method, answer.status, answer.body.error_code]).toEqual([method, 403, 'ERR_SERVICE_200']);
    }
  });

  it('responds with 404 for unknown ids and ids of other kinds', async () => {
    const number = `ERR_SERVICE_${resource.codes.notFound}`;
    const missing = await instance.call('GET', `${pathOf(resource)}/${resource.prefix}_${'0'.repeat(27)}`);
    expect([missing.status, missing.body.error_code]).toEqual([404, number]);
    const other = await instance.call('GET', `${pathOf(resource)}/zz_1`);
    expect([other.status, other.body.error_code]).toEqual([404, 'ERR_SERVICE_222']);
  });

  it('serializes concurrent updates', async () => {
    const made = await make(resource);
    const path = `${pathOf(resource)}/${made.id}`;
    const update = SAMPLES[resource.kind]!.update;
    const answers = await Promise.all(Array.from({ length: 8 }, () => instance.call('PATCH', path, update)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    const records = await instance.management.store.read((view) => view.audit(100));
    const own = records.filter(({ objectId }) => objectId === made.id).map(({ eventType }) => eventType);
    expect(own).toEqual([...Array(8).fill(`${resource.kind}_updated.v0`), `${resource.kind}_created.v0`]);
    await discard(resource, made.id);
  });

  it('has an endpoint for every module', async () => {
    const modules = Object.keys(resource.fields).filter((name) => resource.fields[name]!.isModule === true);
    if (modules.length === 0) return;
    const made = await make(resource);
    for (const name of modules) {
      const path = `${pathOf(resource)}/${made.id}/${name}`;
      await instance.call('DELETE', path);
      expect([name, (await instance.call('GET', path)).status]).toEqual([name, 404]);
      const unknown = await instance.call('PUT', path, { colour: 'red' });
      expect([name, unknown.status, unknown.body.details.pointer]).toEqual([name, 400, '/colour']);
      const wrapped = await instance.call('PUT', path, { id: made.id, module: { colour: 'red' } });
      expect([name, wrapped.body.details.pointer]).toEqual([name, '/module/colour']);
      expect([name, (await instance.call('DELETE', path)).status]).toEqual([name, 204]);
    }
    await discard(resource, made.id);
  });
});
