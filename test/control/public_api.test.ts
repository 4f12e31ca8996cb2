import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Instance, startInstance } from './instance.ts';

/**
 * Compares the description of the API with the operations and fields of the service's public description and
 * clients, which are kept as a table: an operation with its query, request, status and response a line, then a shape
 * with its fields a line; `!` marks required fields.
 */

const [operations = '', shapes = ''] = readFileSync(new URL('public_api.txt', import.meta.url), 'utf8').split(
  '\n\n',
);
const OPERATIONS = operations.split('\n');
const SHAPES = new Map(
  shapes
    .trim()
    .split('\n')
    .map((line) => {
      const [name, ...fields] = line.split(' ');
      return [name!, fields] as const;
    }),
);

/** Part of JSON Schema. */
interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

interface Operation {
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

type Content = Readonly<Record<'application/json', { readonly schema: Schema }>>;

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

let instance: Instance;
let description: Description;
beforeAll(async () => {
  instance = await startInstance();
  ({ body: description } = await instance.call('GET', '/openapi.json'));
});
afterAll(() => instance.close());

/** A schema without references; the members of alternatives are joined. */
function resolved(schema: Schema = {}): Schema {
  if (schema.$ref !== undefined)
    return resolved(description.components.schemas[schema.$ref.split('/').at(-1)!]);
  const parts = schema.anyOf?.map(resolved) ?? [];
  if (parts.length === 0) return schema;
  return {
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)) as Schema['properties'] & {},
    ...parts.find(({ items }) => items !== undefined),
  };
}

/** The fields of a shape that a schema lacks. */
function missing(shape: string, given: Schema | undefined, path: string, known: readonly string[]): string[] {
  const { properties = {} } = resolved(given);
  return SHAPES.get(shape)!.flatMap((field) => {
    const [, name = '', inside] = /^(\w+)!?(?::\[?(\w+)\]?)?$/.exec(field)!;
    if (known.includes(name)) return [];
    const own = properties[name];
    if (own === undefined) return [`${path} ${name}`];
    const schema = resolved(own);
    return inside === undefined ? [] : missing(inside, schema.items ?? schema, `${path} ${name}`, []);
  });
}

function differences(line: string): string[] {
  const [method, target, request, status, response] = line.split(' ') as [
    string,
    string,
    string,
    string,
    string,
  ];
  const [path = '', query = ''] = target.split('?');
  const own = description.paths[path]?.[method.toLowerCase()];
  const at = `${method} ${path}`;
  if (own === undefined) return [at];
  const parameters = new Set(own.parameters.filter((each) => each.in === 'query').map(({ name }) => name));
  const lacking = query.split(',').filter((name) => name !== '' && !parameters.has(name));
  const echoes = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const body = own.requestBody?.content['application/json'].schema;
  const [, replaced] = /module:(\w+)/.exec(SHAPES.get(request)?.join(' ') ?? '') ?? [];
  const isIgnored = request === '-' || request === 'Item' || request === 'TunnelSessionsUpdate';
  return [
    ...lacking.map((name) => `${at} ?${name}`),
    ...(isIgnored ? [] : missing(replaced ?? request, body, `${at} request`, echoes)),
    ...(own.responses[status] === undefined ? [`${at} ${status}`] : []),
    ...(response === '-' || response === 'Empty'
      ? []
      : missing(response, own.responses[status]?.content?.['application/json'].schema, `${at} response`, [])),
  ];
}

it('has every operation and field of the public API', () => {
  const all = OPERATIONS.flatMap(differences);
  const absent = OPERATIONS.filter((line) =>
    all.includes(line.split(' ').slice(0, 2).join(' ').split('?')[0]!),
  );
  process.stdout.write(`${OPERATIONS.length - absent.length} of ${OPERATIONS.length} public operations\n`);
  expect(all).toEqual([]);
});
