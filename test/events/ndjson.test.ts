import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyText } from '../any_text.ts';
import { createEdge } from '../../src/edgeproof.ts';
import type { HttpRequestComplete, HttpRequestCompleteEvent } from '../../src/events/catalogue.ts';
import { eventJson } from '../../src/events/json.ts';
import { ndjsonSink } from '../../src/events/ndjson.ts';
import { sized } from '../random.ts';

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

function eventOf(path = '/', headers: Record<string, string> = {}): HttpRequestCompleteEvent {
  return edge.decide({ method: 'GET', url: `https://app.test${path}`, headers }).event;
}

/** The event with other texts in every place that a client, an upstream or a login chooses. */
function withTexts(event: HttpRequestCompleteEvent, texts: readonly string[], bytes: number) {
  const [a = '', b = '', c = '', d = '', e = ''] = texts;
  const { object } = event;
  const http: HttpRequestComplete['http'] = {
    request: {
      body_length: bytes,
      headers: { [a]: [b, c], 'X-One': [d], ['__proto__']: [e] },
      method: a,
      url: { ...object.http.request.url, host: b, path: c, query: d, raw: e },
      user_agent: a,
    },
    response: { body_length: bytes, headers: {}, status_code: 200 },
  };
  const changed: HttpRequestComplete = {
    ...object,
    basic_auth: { ...object.basic_auth, username: a },
    conn: { ...object.conn, server_name: b },
    http,
    oauth: { ...object.oauth, app_client_id: c, user: { id: d, name: e } },
    tls: { ...object.tls, client_cert: { serial_number: a, subject: { cn: b } } },
    traffic_policy: { logs: [{ metadata: { [c]: d, nested: [e, null, 1] } }] },
  };
  return { ...event, object: changed };
}

test('the text of an event equals that of JSON.stringify', () => {
  const text = fc.oneof(anyText(), fc.string(), fc.constantFrom('"', '\\', '\u2028', '\ud800', '\u007f'));
  fc.assert(
    fc.property(fc.array(text, { minLength: 5, maxLength: 5 }), fc.nat(), (texts, bytes) => {
      const event = withTexts(eventOf(), texts, bytes);
      expect(eventJson(event)).toBe(JSON.stringify(event));
    }),
    sized(500, 1),
  );
});

test('repeated header lists are written equally', () => {
  const event = eventOf('/again', { 'x-a': 'one', cookie: 'session=secret' });
  for (let turn = 0; turn < 5; turn++) expect(eventJson(event)).toBe(JSON.stringify(event));
});

test('a file contains every event as one line, in order, of any length', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'edgeproof-ndjson-')), 'events.ndjson');
  const sink = await ndjsonSink(file);
  const events = Array.from({ length: 300 }, (_, at) =>
    eventOf(`/${at}`, { 'x-long': 'é'.repeat(at * 211) }),
  );
  for (const event of events) sink.write(event);
  await sink.close();
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(lines).toEqual(events.map((event) => JSON.stringify(event)));
});

test('a line is not delayed until the end', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'edgeproof-ndjson-')), 'events.ndjson');
  const sink = await ndjsonSink(file);
  const event = eventOf();
  sink.write(event);
  await expect.poll(() => readFileSync(file, 'utf8')).toBe(`${JSON.stringify(event)}\n`);
  await sink.close();
});
