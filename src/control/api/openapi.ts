import type { Resource } from '../resources/contract.ts';
import { DESCRIBED } from '../resources/described.ts';
import { writeSchema } from '../resources/parse.ts';
import { botAccess } from '../resources/permissions.ts';
import { resourceOfKind } from '../resources/table.ts';
import { APPLY_FLAGS, EDGE_FILE_PATH, GUARDED } from './document_routes.ts';
import { serviceNames } from './folding.ts';
import { isForcible } from './restriction.ts';
import type { Route } from './route.ts';
import { jsonSchema } from '../resources/json_schema.ts';

type Json = Record<string, unknown>;

/** The description of the API (OpenAPI 3.1), generated from the tables of its routes. */
export function openApi(routes: readonly Route[], service: string, emptyAsJson = false): Json {
  const paths: Record<string, Json> = {};
  const schemas: Json = { Error: ERROR };
  // Generators name the types of a client by these names, and give other schemas numbers.
  const named: Named = (name, schema) => {
    if (name === '') return schema;
    schemas[name] = schema;
    return { $ref: `#/components/schemas/${name}` };
  };
  for (const route of routes) {
    (paths[route.path] ??= {})[route.method.toLowerCase()] = operation(route, service, emptyAsJson, named);
  }
  paths[EDGE_FILE_PATH] = edgeFileOperations(service, named);
  for (const { about } of routes) {
    const { resource, title } = about;
    const described = DESCRIBED[title];
    if (resource !== undefined) schemas[schemaName(resource)] = objectSchema(resource);
    else if (described !== undefined) schemas[described.name] = jsonSchema(described.answer, 'output');
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Edge management API',
      version: '2',
      description: 'Served by edgeproof.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This instance.' }],
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

/** Puts a schema among the components, unless its name is empty; returns what stands for it. */
type Named = (name: string, schema: Json) => Json;

function operation(route: Route, service: string, emptyAsJson: boolean, named: Named): Json {
  const { about, path, body } = route;
  const isEmpty = route.status === 204;
  const status = isEmpty && emptyAsJson ? 200 : route.status;
  const pathParameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const request = body === 'json' || body === 'optional' ? named(...requestSchema(route)) : null;
  const answer = isEmpty ? (emptyAsJson ? EMPTY : null) : named(...responseSchema(route));
  const notes = notesOf(route);
  return {
    operationId: `${about.operation}_${path.replaceAll(/[{}]/g, '').replaceAll(/[/.]/g, '_').replace(/^_/, '')}`,
    summary: `${about.operation} ${about.operation === 'list' ? pluralOf(about.title) : about.title}`,
    ...(notes.length > 0 && { description: notes.join(' ') }),
    tags: [pluralOf(about.resource?.title ?? about.title)],
    parameters: [
      versionParameter(service),
      ...pathParameters,
      ...(about.operation === 'list' && DESCRIBED[about.title]?.isPaged !== false ? PAGING : []),
      ...(route.method !== 'GET' && isForcible(about.resource?.kind) ? [FORCE] : []),
      ...((about.operation === 'list' && about.resource?.choices) || []).map((name) => ({
        name,
        in: 'query',
        schema: { type: 'array', items: { type: 'string' } },
      })),
    ],
    ...(request && { requestBody: { required: body === 'json', ...json(request) } }),
    responses: {
      [status]: { description: answer === null ? 'Done; no body.' : 'Done.', ...(answer && json(answer)) },
      ...FAILURES,
    },
  };
}

const EMPTY: Json = { type: 'object', properties: {}, additionalProperties: false };

function json(schema: Json): Json {
  return { content: { 'application/json': { schema } } };
}

const FAILURES: Json = Object.fromEntries(
  ['4XX', '5XX'].map((status) => [
    status,
    { description: 'An error.', ...json({ $ref: '#/components/schemas/Error' }) },
  ]),
);

function versionParameter(service: string): Json {
  const { versionField } = serviceNames(service);
  return { name: versionField, in: 'header', required: true, schema: { const: '2' } };
}

/** The operations of the whole configuration (`document_routes.ts`). */
function edgeFileOperations(service: string, named: Named): Json {
  const file = { type: 'object', description: 'An edge file as JSON.' };
  const texts = { type: 'array', items: { type: 'string' } };
  const steps = { type: 'array', items: { type: 'object' }, description: 'What was or would be changed.' };
  const make = (verb: 'export' | 'apply', summary: string, flags: readonly string[], answer: Json): Json => ({
    operationId: `${verb}_edge_file`,
    summary,
    tags: ['edge files'],
    parameters: [
      versionParameter(service),
      ...flags.map((name) => ({
        name,
        in: 'query',
        ...(GUARDED[name] && {
          description: `Whether ${GUARDED[name]} are included; requires a key of an admin.`,
        }),
        schema: { type: 'string', enum: ['true', 'false'], default: 'false' },
      })),
    ],
    ...(verb === 'apply' && { requestBody: { required: true, ...json(file) } }),
    responses: { 200: { description: 'Done.', ...json(answer) }, ...FAILURES },
  });
  const warnings = {
    type: 'array',
    items: { type: 'object' },
    description:
      'With exact=true, what `edgeproof check --exact` reports: code, severity, basis, message, pointer.',
  };
  const answer = {
    type: 'object',
    required: ['steps', 'notes'],
    properties: { steps, notes: texts, warnings },
  };
  return {
    get: make('export', 'export the configuration', Object.keys(GUARDED), file),
    put: make('apply', 'apply a configuration', APPLY_FLAGS, named('EdgeFileChanges', answer)),
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
  'dead letter': 'event_destination',
  user: 'user',
};

const FORCE = {
  name: 'force',
  in: 'query',
  description: 'Whether the change may lock the client out of the API.',
  schema: { type: 'boolean', default: false },
};

const PAGING = [
  { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100, default: 100 } },
  { name: 'before_id', in: 'query', schema: { type: 'string' } },
  { name: 'filter', in: 'query', schema: { type: 'string' } },
];

/** A schema with its name; an empty name for one that needs none. */
type NamedSchema = readonly [name: string, schema: Json];

function requestSchema({ about: { resource, operation: name, module, title } }: Route): NamedSchema {
  const verb = name === 'create' ? 'Create' : 'Update';
  if (resource === undefined) {
    const described = DESCRIBED[title];
    const schema = name === 'create' ? described?.create : described?.update;
    return [`${described?.name}${verb}`, schema === undefined ? { type: 'object' } : jsonSchema(schema)];
  }
  const own = schemaName(resource);
  if (module === undefined)
    return [own + verb, jsonSchema(writeSchema(resource, name === 'create' ? 'create' : 'update'))];
  return [`${own + typeName(module)}Replace`, jsonSchema(resource.fields[module]!.write!.schema)];
}

function responseSchema({ about: { resource, operation: name, module, title } }: Route): NamedSchema {
  if (resource === undefined) {
    const described = DESCRIBED[title];
    if (described === undefined) return ['', { type: 'object' }];
    const object = { $ref: `#/components/schemas/${described.name}` };
    return name === 'list'
      ? [`${described.name}List`, listSchema(described.listKey, object, described.isPaged)]
      : ['', object];
  }
  const own = schemaName(resource);
  if (module !== undefined)
    return [own + typeName(module), jsonSchema(resource.fields[module]!.read!.schema, 'output')];
  const object = { $ref: `#/components/schemas/${own}` };
  return name === 'list' ? [`${own}List`, listSchema(resource.listKey, object, true)] : ['', object];
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
  const properties = Object.fromEntries(
    Object.entries(fields).flatMap(([name, { read }]) =>
      read === undefined ? [] : [[read.name ?? name, jsonSchema(read.schema, 'output')]],
    ),
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
  return typeName(kind);
}

/** `ip_policy` → `IpPolicy`. */
function typeName(name: string): string {
  return name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
