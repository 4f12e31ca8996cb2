import { describe, expect, it } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import { fieldsOf } from '../../src/events/fields.ts';
import { mapFields } from '../../src/events/redact_event.ts';
import { redactExchange } from '../../src/replay/redact.ts';
import { redaction } from '../../src/replay/redaction.ts';
import { recordingSink } from '../../src/replay/recording_sink.ts';

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

const HTTP_FIELDS = fieldsOf('http_request_complete.v0');

function at(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((inner, key) => (inner as Readonly<Record<string, unknown>>)[key], value);
}

describe('the redaction of the rows', () => {
  const rows = HTTP_FIELDS.filter(([, { redaction: kind }]) => kind !== undefined).map(([path]) => path);

  it('is what happens to secrets in an event', () => {
    const secret = 'hunter2';
    const { event: told } = edge.decide(
      {
        method: 'GET',
        url: `https://app.test/?token=${secret}`,
        headers: { authorization: `Bearer ${secret}`, cookie: `sid=${secret}`, 'x-other': 'seen' },
      },
      {},
      { head: { status: 200, headers: ['set-cookie', `sid=${secret}`] }, reused: false },
    );
    expect(JSON.stringify(told)).not.toContain(secret);
    const redacted = HTTP_FIELDS.filter(([path]) =>
      JSON.stringify(at(told.object, path)).includes('[redacted]'),
    );
    expect(redacted.map(([path]) => path)).toEqual(rows);
  });

  it('is what happens to named secrets in a recording, whatever the members of an event are called', () => {
    const given = {
      'http.request.headers': { 'X-Inner': ['hunter2'], 'User-Agent': ['agent/1'] },
      'http.request.url.query': 'inner=hunter2&name=kept',
      'http.request.url.raw': 'https://app.test/?inner=hunter2',
      'http.request.user_agent': 'Agent/1',
      'http.response.headers': { 'X-Inner': ['hunter2'] },
      'oauth.user.name': 'alice',
      'traffic_policy.logs': [{ metadata: { 'x-inner': 'hunter2', note: 'kept' } }],
    };
    const exchange = recorded((path, value) => (given as Readonly<Record<string, unknown>>)[path] ?? value);
    const { event: kept, redactions } = redactExchange(
      exchange,
      redaction(['x-inner', 'inner', 'user-agent']),
    );
    expect(Object.fromEntries(Object.keys(given).map((path) => [path, at(kept, path)]))).toEqual({
      'http.request.headers': { 'X-Inner': ['[redacted]'], 'User-Agent': ['[redacted]'] },
      'http.request.url.query': 'inner=[redacted]&name=kept',
      'http.request.url.raw': 'https://app.test/?inner=[redacted]',
      'http.request.user_agent': '[redacted]',
      'http.response.headers': { 'X-Inner': ['[redacted]'] },
      'oauth.user.name': 'alice',
      'traffic_policy.logs': [{ metadata: { 'x-inner': '[redacted]', note: 'kept' } }],
    });
    expect(redactions).toContain('event.http.request.user_agent');
  });
});

/** An exchange as it is recorded, with other values in its event. */
function recorded(change: (path: string, value: unknown) => unknown) {
  const found: Parameters<Parameters<typeof recordingSink>[0]>[0][] = [];
  const { event, exchange } = edge.decide({ method: 'GET', url: 'https://app.test/' });
  const object = mapFields('http_request_complete.v0', event.object, (_field, value, path) =>
    change(path, value),
  );
  recordingSink((each) => found.push(each), 0).finished(exchange, object, null);
  return found[0]!;
}
