import { describe, expect, it, test } from 'vitest';
import type { HttpRequestComplete, HttpRequestCompleteEvent } from '../../src/events/catalogue.ts';
import { createEdge } from '../../src/edgeproof.ts';
import type { EventField } from '../../src/events/field_types.ts';
import { type TrafficType, fieldsOf } from '../../src/events/fields.ts';
import { eventJson } from '../../src/events/json.ts';
import { redactEvent } from '../../src/events/redact_event.ts';
import { tcpConnectionClosed } from '../../src/events/tcp_connection.ts';
import { assembleFacts, factsOf, isEventLine } from '../../src/replay/event_facts.ts';
import { lineForms } from '../../src/replay/line_forms.ts';

/** The tables of the specification: field, type, and `f` for filterable. */
// table: fields of the specification
const SPECIFIED: Readonly<Record<TrafficType, string>> = {
  'http_request_complete.v0': `
    backend.connection_reused bool
    basic_auth.decision string
    basic_auth.username string
    circuit_breaker.decision string
    compression.algorithm string
    compression.bytes_saved int64
    conn.client_ip string f
    conn.server_ip string f
    conn.server_name string f
    conn.server_port int32 f
    conn.start_ts timestamp
    http.request.body_length int64
    http.request.headers Map<string,List<string>>
    http.request.method string
    http.request.url.host string
    http.request.url.path string
    http.request.url.query string
    http.request.url.raw string
    http.request.url.scheme string
    http.request.user_agent string
    http.response.body_length int64
    http.response.headers Map<string,List<string>>
    http.response.status_code int32
    ip_policy.decision string
    oauth.app_client_id string
    oauth.decision string
    oauth.user.id string
    oauth.user.name string
    tls.cipher_suite string
    tls.client_cert.serial_number string
    tls.client_cert.subject.cn string
    tls.version string
    traffic_policy.logs List<Map<string,any>>
    webhook_verification.decision string`,
  'tcp_connection_closed.v0': `
    conn.bytes_in int64
    conn.bytes_out int64
    conn.client_ip string f
    conn.end_ts timestamp
    conn.server_ip string f
    conn.server_name string f
    conn.server_port int32 f
    conn.start_ts timestamp
    ip_policy.decision string
    traffic_policy.logs List<Map<string,any>>`,
};

/** Our types, as the specification names them. */
const SPECIFIED_TYPE: Readonly<Record<string, string>> = {
  decision: 'string',
  breaker_decision: 'string',
  algorithm: 'string',
  headers: 'Map<string,List<string>>',
  logs: 'List<Map<string,any>>',
};

/** What a value of each type looks like. */
const LOOKS: Readonly<Record<string, (value: unknown) => boolean>> = {
  bool: (value) => typeof value === 'boolean',
  string: (value) => typeof value === 'string',
  int32: Number.isInteger,
  int64: Number.isInteger,
  timestamp: (value) => new Date(String(value)).toISOString() === value,
  decision: (value) => ['allow', 'block', 'invalid'].includes(String(value)),
  breaker_decision: (value) => ['allow', 'allow_while_open', 'block', 'invalid'].includes(String(value)),
  algorithm: (value) => ['gzip', 'deflate', 'none'].includes(String(value)),
  headers: (value) => Object.values(value as object).every((each) => Array.isArray(each)),
  logs: Array.isArray,
};

const TYPES = Object.keys(SPECIFIED) as TrafficType[];

const edge = createEdge({
  backends: { app: { static: { address: '127.0.0.1:1' } } },
  edges: {
    https: {
      site: {
        hostports: ['app.test:443'],
        routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' } }],
      },
    },
  },
});
const { event } = edge.decide({
  method: 'GET',
  url: 'https://app.test/path?q=1',
  headers: { 'user-agent': 'agent/1', 'x-one': 'ONE' },
});

function streamObject(redact: ((text: string) => string) | null = null) {
  return tcpConnectionClosed(
    {
      configuration: { redactor: () => redact },
      connection: {
        client: { text: '192.0.2.1' },
        serverIp: '192.0.2.2',
        serverName: 'app.test',
        serverPort: 443,
        startMs: 0,
      },
      pipeline: null,
      verdicts: [],
      carried: { bytesIn: 1, bytesOut: 2, cut: 'none' },
      logs: [{ level: 'a' }],
    } as never,
    1,
  );
}

const OBJECTS: Readonly<Record<TrafficType, object>> = {
  'http_request_complete.v0': event.object,
  'tcp_connection_closed.v0': streamObject(),
};

function at(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((inner, key) => (inner as Readonly<Record<string, unknown>> | undefined)?.[key], value);
}

/** An object with another value in one place. */
function withValue(object: object, [key = '', ...rest]: readonly string[], value: unknown): object {
  const inner = (object as Readonly<Record<string, object>>)[key]!;
  return { ...object, [key]: rest.length === 0 ? value : withValue(inner, rest, value) };
}

/** The paths of an object's fields, in order. */
function pathsOf(value: object, known: ReadonlySet<string>, prefix = ''): string[] {
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) => {
    const path = prefix + key;
    const isGroup = !known.has(path) && typeof inner === 'object' && inner !== null;
    return isGroup ? pathsOf(inner, known, `${path}.`) : [path];
  });
}

describe.each(TYPES)('the rows of %s', (type) => {
  const rows = fieldsOf(type);

  it('match the specification', () => {
    const own = rows.map(([path, field]) =>
      [path, SPECIFIED_TYPE[field.type] ?? field.type, ...(field.filterable === true ? ['f'] : [])].join(' '),
    );
    expect(own).toEqual(SPECIFIED[type].trim().split(/\n\s+/));
  });

  it('match the fields of an event and their types', () => {
    const known = new Set(rows.map(([path]) => path));
    const paths = pathsOf(OBJECTS[type], known);
    expect([...paths].sort()).toEqual([...known].sort());
    for (const [path, field] of rows) {
      expect([path, LOOKS[field.type]!(at(OBJECTS[type], path))]).toEqual([path, true]);
    }
  });

  it('redact secrets in free texts, and nothing else', () => {
    const redacted = redactEvent(type, OBJECTS[type] as never, () => '***');
    for (const [path, { type: kind }] of rows) {
      const was = at(OBJECTS[type], path);
      const is = at(redacted, path);
      if (kind === 'string') expect([path, is]).toEqual([path, '***']);
      else if (kind !== 'headers' && kind !== 'logs') expect([path, is]).toEqual([path, was]);
    }
  });
});

const DIFFERENT: Readonly<Record<string, readonly unknown[]>> = {
  bool: [true, false],
  string: ['other', ''],
  int32: [0, 7],
  int64: [0, 2 ** 40],
  timestamp: ['2026-01-01T00:00:00.000Z'],
  decision: ['allow', 'block', 'invalid'],
  breaker_decision: ['allow', 'block', 'allow_while_open', 'invalid'],
  algorithm: ['gzip', 'none'],
  headers: [{}, { 'X-A': ['b', 'c'] }],
  logs: [[], [{ metadata: { a: 1 } }]],
};

const HTTP_FIELDS = fieldsOf('http_request_complete.v0');

/** Events with different values in one field. */
function changedIn(path: string, { type }: EventField): readonly HttpRequestCompleteEvent[] {
  return DIFFERENT[type]!.map((value) => {
    const object = withValue(event.object, path.split('.'), value) as HttpRequestComplete;
    return Object.assign({}, event, { object });
  });
}

test.each(TYPES.flatMap((type) => fieldsOf(type).map(([path, field]) => [type, path, field] as const)))(
  '%s: %s is written like by JSON.stringify',
  (type, path, field) => {
    const escaped = field.type === 'string' && field.isPlain !== true ? ['"\\\n\ud800é'] : [];
    for (const value of [...DIFFERENT[field.type]!, ...escaped]) {
      const object = withValue(OBJECTS[type], path.split('.'), value);
      const each = { ...event, event_type: type, object } as HttpRequestCompleteEvent;
      expect(eventJson(each)).toBe(JSON.stringify(each));
    }
  },
);

test.each(HTTP_FIELDS.filter(([, { replayed }]) => replayed === true))(
  '%s is read by a replay from parsed lines and from lines in the known format',
  (path, field) => {
    const forms = lineForms(assembleFacts);
    const changed = changedIn(path, field);
    const facts = changed.map((each) => {
      const line = eventJson(each);
      const value: unknown = JSON.parse(line);
      if (!isEventLine(value)) throw new Error(`no event: ${line}`);
      const parsed = factsOf(value);
      forms.learn(line, value);
      const bytes = Buffer.from(line);
      expect(forms.read(bytes, 0, bytes.length)).toEqual(parsed);
      return parsed;
    });
    // Each value makes a difference.
    expect(new Set(facts.map((each) => JSON.stringify(each))).size).toBe(changed.length);
  },
);

test.each(['c', 'conn', 'invalid', 'metadata'])(
  'redacting the secret %j results in a valid event',
  (secret) => {
    const redact = (text: string) => text.replaceAll(secret, '***');
    const object = redactEvent(
      'http_request_complete.v0',
      { ...event.object, traffic_policy: { logs: [{ metadata: { note: `a ${secret}` } }] } },
      redact,
    );
    expect(object.ip_policy.decision).toBe('invalid');
    expect(object.traffic_policy.logs[0]!.metadata).toEqual({ [redact('note')]: 'a ***' });
    expect(JSON.parse(eventJson({ ...event, object }))).toEqual({ ...event, object });
    expect(streamObject(redact).ip_policy).toEqual({ decision: 'invalid' });
  },
);

it.each([
  ['gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'none'],
  ['zstd', 'none'],
])('a response in %s has the algorithm %s, one of those specified', async (coding, algorithm) => {
  const actions = [{ type: 'compress-response', config: { algorithms: [coding] } }];
  const compressing = createEdge({
    backends: { app: { http_response: { status_code: 200, body: 'x'.repeat(5_000) } } },
    edges: {
      https: {
        site: {
          hostports: ['app.test:443'],
          routes: [
            {
              match_type: 'path_prefix',
              match: '/',
              backend: { backend_id: 'app' },
              traffic_policy: { value: JSON.stringify({ on_http_response: [{ actions }] }) },
            },
          ],
        },
      },
    },
  });
  const { response, event: made } = await compressing.handle(
    new Request('https://app.test/', { headers: { 'accept-encoding': coding } }),
  );
  expect(response.headers.get('content-encoding')).toBe(coding);
  await response.arrayBuffer();
  expect(made.object.compression.algorithm).toBe(algorithm);
});
