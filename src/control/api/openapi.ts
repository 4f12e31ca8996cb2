import type { Resource } from '../resources/contract.ts';
import { DESCRIBED } from '../resources/described.ts';
import { refSchema } from '../resources/fields.ts';
import { writeSchema } from '../resources/parse.ts';
import { botAccess } from '../resources/permissions.ts';
import { resourceOfKind } from '../resources/table.ts';
import { serviceNames } from './folding.ts';
import type { Route } from './route.ts';
import { jsonSchema } from '../resources/json_schema.ts';

type Json = Record<string, unknown>;

/** The description of the API (OpenAPI 3.1), generated from the tables of its routes. */
export function openApi(routes: readonly Route[], service: string): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    (paths[route.path] ??= {})[route.method.toLowerCase()] = operation(route, service);
  }
  const schemas: Json = { Ref: jsonSchema(refSchema), Error: ERROR };
  for (const { about } of routes) {
    const { resource, title } = about;
    const described = DESCRIBED[title];
    if (resource !== undefined) schemas[schemaName(resource)] = objectSchema(resource);
    else if (described !== undefined) schemas[described.name] = jsonSchema(described.answer, 'output');
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Edge management API', version: '2', description: 'Served by edgeproof.' },
    paths,
    components: { schemas, securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
    security: [{ key: [] }],
  };
}

const ERROR = {
  type: 'object',
  required: ['status_code', 'msg', 'details'],
  properties: {
    error_code: { type: 'string' },
    status_code: { type: 'integer' },
    msg: { type: 'string' },
    details: { type: 'object', additionalProperties: { type: 'string' } },
  },
};

function operation(route: Route, service: string): Json {
  const { about, path, status, body } = route;
  const { versionField } = serviceNames(service);
  const pathParameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const request = body === 'json' ? requestSchema(route) : null;
  const answer = status === 204 ? null : responseSchema(route);
  const notes = notesOf(route);
  const json = (schema: Json): Json => ({ content: { 'application/json': { schema } } });
  return {
    operationId: `${about.operation}_${path.replaceAll(/[{}]/g, '').replaceAll(/[/.]/g, '_').replace(/^_/, '')}`,
    summary: `${about.operation} ${about.operation === 'list' ? pluralOf(about.title) : about.title}`,
    ...(notes.length > 0 && { description: notes.join(' ') }),
    tags: [pluralOf(about.resource?.title ?? about.title)],
    parameters: [
      { name: versionField, in: 'header', required: true, schema: { const: '2' } },
      ...pathParameters,
      ...(about.operation === 'list' && DESCRIBED[about.title]?.isPaged !== false ? PAGING : []),
    ],
    ...(request && { requestBody: { required: true, ...json(request) } }),
    responses: {
      [status]: { description: answer === null ? 'Done; no body.' : 'Done.', ...(answer && json(answer)) },
      default: { description: 'An error.', ...json({ $ref: '#/components/schemas/Error' }) },
    },
  };
}

/** Rules of an operation that its schemas cannot express. */
function notesOf({ method, about: { resource, title } }: Route): string[] {
  const access = botAccess(resource?.kind ?? PERMISSION_KINDS[title] ?? '');
  const isRead = method === 'GET';
  return [
    ...(method === 'PATCH' ? ['Fields that are omitted or null are unchanged.'] : []),
    ...(access === 'own' ? ['Keys of bots can access only objects that the bot owns.'] : []),
    ...(access === 'self' && isRead ? ['Keys of bots can access only their own bot.'] : []),
    ...(access === 'none' ? ['Requires a key of an admin.'] : []),
    ...((access === 'self' || access === 'read') && !isRead ? ['Requires a key of an admin.'] : []),
  ];
}

/** Kinds whose permissions apply to things that are not in the table of resources. */
const PERMISSION_KINDS: Readonly<Record<string, string>> = {
  'event source': 'event_subscription',
  user: 'user',
};

const PAGING = [
  { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100, default: 100 } },
  { name: 'before_id', in: 'query', schema: { type: 'string' } },
  { name: 'filter', in: 'query', schema: { type: 'string' } },
];

function requestSchema({ about: { resource, operation: name, module, title } }: Route): Json {
  if (resource === undefined) {
    const described = DESCRIBED[title];
    const schema = name === 'create' ? described?.create : described?.update;
    return schema === undefined ? { type: 'object' } : jsonSchema(schema);
  }
  if (module !== undefined) return jsonSchema(resource.fields[module]!.write!.schema);
  return jsonSchema(writeSchema(resource, name === 'create' ? 'create' : 'update'));
}

function responseSchema({ about: { resource, operation: name, module, title } }: Route): Json {
  if (resource === undefined) {
    const described = DESCRIBED[title];
    if (described === undefined) return { type: 'object' };
    const object = { $ref: `#/components/schemas/${described.name}` };
    return name === 'list' ? listSchema(described.listKey, object, described.isPaged) : object;
  }
  if (module !== undefined) return jsonSchema(resource.fields[module]!.read!.schema, 'output');
  const object = { $ref: `#/components/schemas/${schemaName(resource)}` };
  return name === 'list' ? listSchema(resource.listKey, object, true) : object;
}

function listSchema(key: string, items: Json, isPaged: boolean): Json {
  return {
    type: 'object',
    required: [key, 'uri', ...(isPaged ? ['next_page_uri'] : [])],
    properties: {
      [key]: { type: 'array', items },
      uri: { type: 'string' },
      ...(isPaged && { next_page_uri: { type: ['string', 'null'] } }),
    },
  };
}

/** `IP policy` → `IP policies`. */
function pluralOf(title: string): string {
  if (/(?:ss|ch|x)$/.test(title)) return `${title}es`;
  return title.endsWith('y') && !/[aeiou]y$/.test(title) ? `${title.slice(0, -1)}ies` : `${title}s`;
}

function objectSchema({ fields, children }: Resource): Json {
  const reads = Object.values(fields).flatMap(({ read }) => read ?? []);
  const properties = Object.fromEntries(
    reads.map(({ name, schema }) => [name, jsonSchema(schema, 'output')]),
  );
  const text = { type: 'string' };
  const parts =
    children === undefined
      ? {}
      : {
          [children.name]: {
            type: 'array',
            items: { $ref: `#/components/schemas/${schemaName(resourceOfKind(children.kind))}` },
          },
        };
  return {
    type: 'object',
    required: ['id', 'uri'],
    properties: { id: text, uri: text, ...properties, ...parts },
  };
}

function schemaName({ kind }: Resource): string {
  return kind.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
