import { jsonSchema } from '../../src/control/resources/json_schema.ts';
import type { Resource } from '../../src/control/resources/contract.ts';
import { RESOURCES } from '../../src/control/resources/table.ts';
import { AUDIT_OBJECTS } from '../../src/events/event_types.ts';
import type { FieldType } from '../../src/events/field_types.ts';
import { TRAFFIC_EVENTS, type TrafficType, fieldsOf } from '../../src/events/fields.ts';
import { type Page, anchorOf, code, page, sentence, table } from './markdown.ts';
import { type Schema, typeText } from './schema_values.ts';

const GENERATED = '<!-- Generated from the tables of fields by `npm run generate`. Do not edit. -->';

/** Pages about events, and about the objects of the management API, which audit events have. */
export function eventPages(): readonly Page[] {
  return [
    ['events.md', events()],
    ['api_objects.md', apiObjects()],
  ];
}

const TYPES: Readonly<Record<FieldType, string>> = {
  bool: '`true` or `false`.',
  string: 'A string; empty if it is not known.',
  int32: 'A whole number.',
  int64: 'A whole number.',
  timestamp: 'A string: a time in RFC 3339 format.',
  decision: '`allow`, `block`, or `invalid`: the module did not run.',
  breaker_decision: '`allow`, `block`, `allow_while_open`, or `invalid`: the module did not run.',
  algorithm: '`gzip`, `deflate` or `none`.',
  headers: 'A map from capitalised names to lists of values in lower case.',
  logs: 'A list of maps with `metadata`.',
};

const TITLES: Readonly<Record<TrafficType, string>> = {
  'http_request_complete.v0': 'One event for each request, when its response has been sent.',
  'tcp_connection_closed.v0':
    'One event for each connection of a TLS or TCP edge, and for each that carried HTTP.',
};

/** What each field of a session's event is. */
export const AGENT_SESSION_FIELDS: Readonly<Record<string, string>> = {
  session: 'The session: `id` and `uri`.',
  credential: 'The credential that the agent used: `id` and `uri`; empty if there is none.',
  agent_ip: 'Address of the agent.',
  ingress_server_ip: 'Address that accepted the session.',
  region: 'Region of the edge.',
  ingress_hostname: 'Host that the agent connected to.',
  user_agent: 'Name and version of the agent.',
  metadata: 'Metadata that the agent sent.',
  os: 'Operating system of the agent.',
  arch: 'Processor architecture of the agent.',
  transport: 'Protocol of the session.',
  started_at: 'When the session started.',
  expires_at: 'Always `null`: sessions do not expire.',
  stopped_at: 'When the session stopped; `null` in events of a start.',
  deprecated: 'Which versions will be refused; empty, because no version is deprecated.',
  error: 'Why the session could not start, or why it stopped; empty for a start that succeeded.',
};

function events(): string {
  const traffic = (Object.keys(TRAFFIC_EVENTS) as TrafficType[]).flatMap((type) => [
    `## ${code(type)}`,
    TITLES[type],
    table(
      ['Field', 'Type', 'Filterable', 'Meaning'],
      fieldsOf(type).map(([path, { type: kind, filterable, doc }]) => [
        code(path),
        kind,
        filterable === true ? 'yes' : '',
        sentence(doc),
      ]),
    ),
  ]);
  const audit = AUDIT_OBJECTS.map((kind) => [
    ['created', 'updated', 'deleted'].map((action) => code(`${kind}_${action}.v0`)).join(', '),
    `[\`${kind}\`](api_objects.md#${anchorOf(kind)})`,
  ]);
  return page(
    '# Events',
    GENERATED,
    '`edgeproof dev --events FILE` writes one event per line. [Event destinations](../events.md) of the management API send events to ' +
      'other services. Filters are [expressions](expressions.md#event-filters) over the filterable fields, such as ' +
      '`ev.http.response.status_code >= 500`.',
    '## Envelope',
    table(
      ['Key', 'Meaning'],
      [
        [
          '`event_id`',
          '`ev_` and 27 lower-case letters and digits; sortable by time, and the same in every delivery.',
        ],
        ['`event_type`', 'One of the types on this page.'],
        ['`event_timestamp`', 'Time of the event in RFC 3339 format.'],
        ['`object`', 'The fields below; a dot in a field separates nested keys.'],
        ['`account_id`', 'Audit events only: the account.'],
        ['`principal`', 'Audit events only: who made the change: `id`, `subject`, `source`, `credential`.'],
      ],
    ),
    ...traffic,
    '## Types of fields',
    table(
      ['Type', 'Value'],
      Object.entries(TYPES).map(([type, meaning]) => [code(type), meaning]),
    ),
    '## Audit events',
    'One event for each change through the management API. `object` is the object as the API shows it, without its secrets.',
    table(['Types', 'Object'], audit),
    '## `agent_session_start.v0` and `agent_session_stop.v0`',
    'Sessions of [agents](../agents.md).',
    table(
      ['Field', 'Meaning'],
      Object.entries(AGENT_SESSION_FIELDS).map(([key, meaning]) => [code(key), meaning]),
    ),
  );
}

function apiObjects(): string {
  return page(
    '# Objects of the management API',
    GENERATED,
    'Objects as the [management API](../api.md) shows them, and as [audit events](events.md#audit-events) have them. ' +
      'The instance serves an OpenAPI description with all operations at `/openapi.json`.',
    ...RESOURCES.flatMap((resource) => [
      `## ${code(resource.kind)}`,
      `${resource.title[0]!.toUpperCase()}${resource.title.slice(1)}, at ${code(resource.path)}: ${resource.operations.join(', ')}.`,
      fieldsOfResource(resource),
    ]),
  );
}

function fieldsOfResource({ fields }: Resource): string {
  const rows = Object.entries(fields).flatMap(([name, { read, write }]) => {
    const schema = read?.schema ?? write?.schema;
    if (schema === undefined) return [];
    const json = jsonSchema(schema, read === undefined ? 'input' : 'output') as Schema;
    const inRequests =
      write === undefined ? 'shown only' : write.create === 'required' ? 'required' : write.create;
    const description = json.description ?? (write && (jsonSchema(write.schema) as Schema).description) ?? '';
    return [[code(read?.name ?? name), typeText(json, code, 'expressions.md'), inRequests, description]];
  });
  return table(
    ['Field', 'Type', 'In requests', 'Meaning'],
    [
      ['`id`', 'string', 'shown only', 'Id of the object.'],
      ['`uri`', 'string', 'shown only', 'URL of the object.'],
      ...rows,
    ],
  );
}
