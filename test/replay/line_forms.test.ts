import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EventLine, assembleFacts, factsOf, isEventLine } from '../../src/replay/event_facts.ts';
import { type LineForms, lineForms } from '../../src/replay/line_forms.ts';
import { type LogReader, logReader } from '../../src/replay/read_log.ts';
import { runs, sized } from '../random.ts';

/** Texts that occur in logs, and texts that break careless code. */
const text = fc.oneof(
  {
    weight: 300,
    arbitrary: fc.constantFrom(
      '',
      'a',
      'GET',
      'get',
      'block',
      '203.0.113.7',
      '2026-01-01T00:00:05.250Z',
      'é€',
      '{',
      '}',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '"',
      '\\',
      '\u0001',
      ',"path":"/b"',
      '2026-01-01T00:00:60.000Z',
      '2001:db8::1',
      '[redacted]',
    ),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 20 }) },
);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const headers = fc.dictionary(
  fc.constantFrom('Host', 'host', 'Accept', 'User-Agent', 'Location', 'X-Error-Code', '17', '__proto__', 'a'),
  fc.oneof(
    { weight: 20, arbitrary: fc.array(text, { minLength: 1, maxLength: 2 }) },
    { weight: 1, arbitrary: fc.constant([]) },
  ),
);
const event = fc.record(
  {
    event_timestamp: maybe(text),
    object: fc.record({
      backend: maybe(fc.record({ connection_reused: fc.boolean() })),
      conn: fc.record({
        client_ip: fc.constantFrom('203.0.113.7', '198.51.100.9', '2001:db8::1', 'nobody'),
        server_port: maybe(
          fc.oneof(
            { weight: 8, arbitrary: fc.nat(70_000) },
            { weight: 1, arbitrary: fc.constantFrom(-1, 1e21, 0.5, -0, null) },
          ),
        ),
        start_ts: maybe(text),
      }),
      http: fc.record({
        request: fc.record({
          body_length: maybe(fc.nat(3)),
          headers: maybe(headers),
          method: text,
          url: fc.record({ host: maybe(text), path: maybe(text), query: maybe(text), raw: maybe(text) }),
          user_agent: maybe(text),
        }),
        response: maybe(fc.record({ headers: maybe(headers), status_code: maybe(fc.nat(599)) })),
      }),
      ip_policy: maybe(fc.record({ decision: maybe(text) })),
      tls: maybe(
        fc.record({
          version: maybe(text),
          client_cert: maybe(fc.record({ subject: maybe(fc.record({ cn: text })) })),
        }),
      ),
      something: maybe(fc.jsonValue({ maxDepth: 2 })),
    }),
  },
  { noNullPrototype: true },
);

/** A line with some characters changed: mostly invalid. */
const spoilt = (line: string) =>
  fc
    .tuple(
      fc.nat(line.length),
      fc.nat(3),
      fc.constantFrom('', '"', '\\', ',', '0', '}', ' ', '\t', 'e1', '['),
    )
    .map(([at, taken, put]) => line.slice(0, at) + put + line.slice(at + taken));
/** What can be in a file: half of a surrogate pair cannot. */
const writable = (lines: readonly string[]) => lines.map((line) => Buffer.from(line).toString());

/** Lines of one log: few events, with changed values, and some corrupted lines. */
const log = fc.array(event, { minLength: 1, maxLength: 3 }).chain((events) =>
  fc
    .array(
      fc.constantFrom(...events).chain((each) => {
        const line = JSON.stringify(each);
        const changed = fc
          .tuple(
            fc.constantFrom('a', 'GET', '7', 'block', '.'),
            fc.constantFrom('b', '81', 'x"', '\\u0041', '\u0002', ''),
          )
          .map(([from, to]) => line.replace(from, to));
        return fc.oneof(fc.constant(line), fc.constant(line), changed, spoilt(line));
      }),
      { minLength: 4, maxLength: 16 },
    )
    .map(writable),
);

function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

/** Reads a line as bytes between others. */
function readIn<Made>(forms: LineForms<Made>, line: string, before = 0): Made | null {
  const bytes = Buffer.from(`${'"'.repeat(before)}${line}\n"`);
  return forms.read(bytes, before, bytes.length - 2);
}

describe('forms of lines', () => {
  it('read the same as the parser, or nothing', () => {
    let known = 0;
    fc.assert(
      fc.property(log, (lines) => {
        const forms = lineForms(assembleFacts);
        for (const [index, line] of lines.entries()) {
          const value = parsed(line);
          const read = readIn(forms, line, index);
          if (read !== null) {
            known++;
            expect(isEventLine(value)).toBe(true);
            if (isEventLine(value)) expect(read).toEqual(factsOf(value));
          } else if (value !== undefined) forms.learn(line, value);
        }
      }),
      sized(600, 7),
    );
    expect(known).toBeGreaterThan(runs(600) * 0.75);
  });

  it('give a log the same records and problems as a reader that parses each line', () => {
    fc.assert(
      fc.property(log, (lines) => {
        const reading = (read: (reader: LogReader, each: readonly string[]) => void) => {
          const heard: unknown[] = [];
          const reader = logReader({
            record: (record) => void heard.push(record),
            problem: (line, message) => void heard.push([line, message]),
          });
          // A broken first line may begin a document of many lines, which is another case.
          read(reader, ['# a log', ...lines]);
          return heard;
        };
        const asTexts = reading((reader, each) => {
          for (const [index, line] of each.entries()) reader.line(line, index + 1);
        });
        const asBytes = reading((reader, each) => reader.piece(Buffer.from(each.join('\r\n')), 1));
        expect(asBytes).toEqual(asTexts);
      }),
      sized(600, 7),
    );
  });

  it('match lines that differ only in values', () => {
    const lineOf = (path: string, status: number) =>
      JSON.stringify({
        object: {
          conn: { client_ip: '203.0.113.7' },
          http: { request: { method: 'get', url: { path } }, response: { status_code: status } },
        },
      });
    const forms = lineForms(assembleFacts);
    for (const line of [lineOf('/a', 200), lineOf('/b', 404)]) forms.learn(line, JSON.parse(line));
    expect(readIn(forms, lineOf('/c', 503))).toMatchObject({
      'http.request.url.path': '/c',
      'http.response.status_code': 503,
      'http.request.method': 'get',
    });
    expect(readIn(forms, lineOf('/"', 503))).toBeNull();
    expect(readIn(forms, lineOf('/c', 1.5))).toBeNull();
    expect(readIn(forms, lineOf('/c', 503).replace('503', '0503'))).toBeNull();
    expect(readIn(forms, lineOf('/c', 503).replace('/c', '/\t'))).toBeNull();
    expect(readIn(forms, `${lineOf('/c', 503)} `)).toBeNull();
  });

  it('read values that repeat, and those that first vary later', () => {
    const lineOf = (path: string, accept: string) =>
      JSON.stringify({
        object: {
          conn: { client_ip: '203.0.113.7' },
          http: { request: { headers: { Accept: [accept] }, method: 'get', url: { path } } },
        },
      });
    const forms = lineForms(assembleFacts);
    for (const line of [lineOf('/a', 'x'), lineOf('/b', 'x')]) forms.learn(line, JSON.parse(line));
    const read = (path: string, accept: string): void => {
      const line = lineOf(path, accept);
      if (readIn(forms, line) === null) forms.learn(line, JSON.parse(line));
      expect(readIn(forms, line)).toEqual(factsOf(JSON.parse(line) as EventLine));
    };
    // The second text has as many bytes as the first one has characters, and bytes with their codes.
    for (const path of ['/c', '/c', 'Ã©', 'é', 'é', '/c']) read(path, 'x');
    for (const accept of ['y', 'y', 'x', 'z']) read('/c', accept);
  });

  it('read a line with any byte changed as the parser does, or not at all', () => {
    const lineOf = (path: string, agent: string, status: number) =>
      JSON.stringify({
        object: {
          conn: { client_ip: '203.0.113.7', server_port: 443 },
          http: {
            request: { headers: { 'X-A': ['é'] }, method: 'get', url: { path }, user_agent: agent },
            response: { status_code: status },
          },
        },
      });
    const forms = lineForms(assembleFacts);
    for (const line of [lineOf('/a', 'b', 200), lineOf('/b', 'é', 404)]) forms.learn(line, JSON.parse(line));
    const bytes = Buffer.from(lineOf('/long/path', 'é€', 503));
    let known = 0;
    for (let at = 0; at < bytes.length; at++) {
      const before = bytes[at]!;
      for (const byte of [0, 10, 31, 34, 44, 45, 46, 48, 57, 92, 101, 125, 127, 128, 195, 240, 255]) {
        bytes[at] = byte;
        const read = forms.read(bytes, 0, bytes.length);
        if (read === null) continue;
        known++;
        expect(read).toEqual(factsOf(JSON.parse(bytes.toString()) as EventLine));
      }
      bytes[at] = before;
    }
    // The values that vary can be many others.
    expect(known).toBeGreaterThan(100);
    for (let to = 0; to < bytes.length; to++) expect(forms.read(bytes, 0, to)).toBeNull();
  });

  it('keep no values of earlier lines', () => {
    const lineOf = (path: string) =>
      JSON.stringify({
        object: { conn: { client_ip: '203.0.113.7' }, http: { request: { method: 'get', url: { path } } } },
      });
    const forms = lineForms(assembleFacts);
    for (const line of [lineOf('/a'), lineOf('/b')]) forms.learn(line, JSON.parse(line));
    const bytes = Buffer.from(lineOf('/first'));
    const first = forms.read(bytes, 0, bytes.length);
    bytes.write(lineOf('/other'));
    expect(forms.read(bytes, 0, bytes.length)).toMatchObject({ 'http.request.url.path': '/other' });
    expect(first).toMatchObject({ 'http.request.url.path': '/first' });
  });
});
