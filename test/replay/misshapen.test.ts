import { linkSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { logReader } from '../../src/replay/read_log.ts';
import { replay } from '../../src/replay/replay.ts';
import { replayText } from '../../src/replay/report_replay.ts';
import { scenarioWriter } from '../../src/replay/to_scenario.ts';
import { edgeproof } from '../cli/command.ts';
import { configOf, createEdge, deny, policyOf, replayed } from './edges.ts';

const CONFIG = configOf(policyOf([deny("req.url.query == 'x' || conn.client_port == 5")]));
const edge = replayed(CONFIG);
const { event } = createEdge(CONFIG).decide({ url: 'https://shop.test/a', headers: { 'x-a': 'b' } });
const EMPTY = { bytes: 0, text: '' };
const ANSWER = { status: 200, headers: ['location', '/b', 'x-error-code', ''], body: EMPTY };
const EXCHANGE = {
  at: '2026-10-10T11:55:36.000Z',
  request: {
    method: 'GET',
    scheme: 'https',
    target: '/a?b=1',
    version: '1.1',
    headers: ['host', 'shop.test', 'x-a', 'b'],
    body: EMPTY,
  },
  client: {
    ip: '203.0.113.9',
    port: 4_000,
    server_ip: '127.0.0.1',
    server_port: 443,
    server_name: 'shop.test',
    connected: '2026-10-10T11:55:36.000Z',
    tls: {
      version: 'TLSv1.3',
      cipher_suite: 'x',
      client_certificate: { serial_number: '1', subject_cn: 'a' },
    },
  },
  backend: { id: 'app', candidates: ['app'] },
  forwards: [
    { backend: 'app', address: 'a:1', target: '/a', headers: [], response: ANSWER, reused: false },
    {
      backend: 'app',
      address: 'a:1',
      target: '/a',
      headers: [],
      response: null,
      failure: 'connect',
      reused: false,
    },
  ],
  fetches: [{ method: 'GET', url: 'https://a.test/', response: ANSWER }],
  response: ANSWER,
  event: event.object,
  trace: [],
  redactions: [],
};
const HAR_ENTRY = {
  startedDateTime: '2026-10-10T11:55:36Z',
  request: {
    method: 'POST',
    url: 'https://shop.test/a?b=1',
    headers: [{ name: 'x', value: 'y' }],
    bodySize: 3,
    postData: { text: 'YWJj', encoding: 'base64' },
  },
  response: { status: 200, headers: [{ name: 'location', value: '/b' }] },
  _clientAddress: '203.0.113.9',
};
const LOGS: Readonly<Record<string, object>> = {
  'a recording': { exchange: EXCHANGE },
  'an event': event,
  'an archive': { log: { entries: [HAR_ENTRY] } },
  'a log of Caddy': {
    ts: 1_760_000_000,
    request: {
      remote_ip: '203.0.113.9',
      proto: 'HTTP/2.0',
      method: 'GET',
      host: 'shop.test',
      uri: '/a',
      headers: { 'X-A': ['b'] },
      tls: { version: 772, server_name: 'shop.test' },
    },
    status: 200,
  },
  'a log of Cloudflare': {
    ClientIP: '203.0.113.9',
    ClientRequestHost: 'shop.test',
    ClientRequestMethod: 'GET',
    ClientRequestURI: '/a',
    EdgeResponseStatus: 200,
    RequestHeaders: { a: 'b' },
  },
};

/** `1e999` is valid JSON, and infinite once it is read. */
const INFINITE = 'infinite';
const ODD: readonly unknown[] = [
  undefined,
  null,
  '',
  'x',
  -1,
  0.5,
  INFINITE,
  true,
  [],
  {},
  [null],
  [1],
  ['a'],
  { a: null },
  '\0',
  '+275760-09-13T00:00:00Z',
  '[redacted]',
];

type Path = readonly string[];

function pathsIn(value: unknown, path: Path = []): Path[] {
  const below = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return [path, ...below.flatMap(([name, member]) => pathsIn(member, [...path, name]))];
}

/** The value as JSON, with another member at a path. */
function withOdd(value: object, [name, ...rest]: Path, odd: unknown): string {
  const put = (within: unknown, [first, ...below]: Path): unknown => {
    if (first === undefined) return odd;
    const copy = Array.isArray(within) ? [...(within as unknown[])] : { ...(within as object) };
    const members = copy as Record<string, unknown>;
    members[first] = put(members[first], below);
    return copy;
  };
  const made = name === undefined ? odd : put(value, [name, ...rest]);
  return (JSON.stringify(made) ?? 'null').replaceAll(`"${INFINITE}"`, '1e999');
}

function read(...lines: readonly string[]) {
  const problems: string[] = [];
  const running = replay(edge, edge);
  const problem = (line: number, message: string): void => {
    running.problem(line, message);
    problems.push(`${line}: ${message}`);
  };
  const writer = scenarioWriter({ edge: 'e', backends: ['app'], agents: {}, offlineCode: '' });
  const reader = logReader({
    record: (record) => {
      running.take(record, () => undefined);
      writer.take(record);
    },
    problem,
  });
  // By bytes, as lines of known forms are read.
  reader.piece(Buffer.from(lines.join('\n')), 1);
  reader.end();
  const summary = running.summary();
  return { problems, records: summary.records, text: replayText(summary, () => null) + writer.text() };
}

describe('logs whose values have other types', () => {
  it.each(Object.entries(LOGS))(
    '%s: each line is judged or named, and none ends the replay',
    (_name, log) => {
      const good = JSON.stringify(log);
      expect(read(good, good)).toMatchObject({ records: 2, problems: [] });
      for (const path of pathsIn(log)) {
        // The line before decides how the next ones are read.
        const lines = ODD.flatMap((odd) => [good, withOdd(log, path, odd)]);
        const { records } = read(...lines, good);
        const place = path.join('.');
        expect({ place, isRead: records > ODD.length }).toEqual({ place, isRead: true });
      }
    },
  );

  it('say which member of a recording is wrong', () => {
    const lines = [
      ['client'],
      ['request', 'headers', '3'],
      ['client', 'port'],
      ['forwards', '0', 'response', 'body'],
    ].map((path) => withOdd(LOGS['a recording']!, ['exchange', ...path], null));
    const odd = withOdd(LOGS['a recording']!, ['exchange', 'request', 'headers'], ['host']);
    expect(read(...lines, odd, '{"exchange":[]}').problems).toEqual([
      "1: the recorded exchange has no 'client' that can be read",
      "2: the recorded exchange has no 'request.headers.3' that can be read",
      "3: the recorded exchange has no 'client.port' that can be read",
      "4: the recorded exchange has no 'forwards.0.response.body' that can be read",
      "5: the recorded exchange has no 'request.headers' that can be read",
      '6: the recorded exchange is not an object',
    ]);
  });

  it('an archive may have null for what it lacks', () => {
    const request = { ...HAR_ENTRY.request, headers: null, postData: null, bodySize: null };
    const entry = { ...HAR_ENTRY, request, response: null, _clientAddress: null, startedDateTime: null };
    const har = { log: { entries: [entry, { ...HAR_ENTRY, request: { method: 'GET' } }] } };
    const { records, problems } = read(JSON.stringify(har));
    expect([records, problems]).toEqual([
      1,
      ["1: entry 2 of the archive has no 'request.url' that can be read"],
    ]);
  });

  it('do not steer a terminal', () => {
    const escape = '\u001b[2J\u009b31m';
    const wrong = withOdd(LOGS['a recording']!, ['exchange', 'client', 'ip'], escape);
    const steering = withOdd(LOGS['a recording']!, ['exchange', 'request', 'method'], escape);
    const { records, problems, text } = read(wrong, steering);
    expect([records, problems.length]).toEqual([1, 1]);
    // oxlint-disable-next-line no-control-regex -- these are what steers
    expect(text.split('\ncases:')[0]).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  });
});

describe('a recording that was cut', () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeproof-cut-'));
  const whole = JSON.stringify({ exchange: EXCHANGE });
  writeFileSync(join(folder, 'edge.yaml'), JSON.stringify(CONFIG));
  writeFileSync(
    join(folder, 'cut.ndjson'),
    `{"edgeproof_recording":1}\n${whole}\n{"exchange":{}}\n${whole}\n${whole.slice(0, 300)}`,
  );

  it('is replayed up to the cut', async () => {
    const { stdout } = await edgeproof(['replay', 'cut.ndjson', '-e', 'edge.yaml'], folder);
    expect(stdout).toContain('2 records');
    expect(stdout).toContain('2 lines could not be read');
    expect(stdout).toContain(
      "line 3: the recorded exchange has no 'at' that can be read\n  line 5: this is not JSON",
    );
  });

  it('is converted to HAR, without the lines that cannot be read', async () => {
    const args = ['record', '--from', 'cut.ndjson', '--to', 'har', '-o', 'cut.har'];
    const { code, stderr } = await edgeproof(args, folder);
    expect([code, stderr]).toEqual([
      0,
      "cut.ndjson: line 3: the recorded exchange has no 'at' that can be read\ncut.ndjson: line 5: this is not JSON\n",
    ]);
    const { log } = JSON.parse(readFileSync(join(folder, 'cut.har'), 'utf8')) as {
      log: { entries: object[] };
    };
    expect(log.entries).toHaveLength(2);
  });

  it('is not overwritten by what it is converted to, also over a link', async () => {
    const before = readFileSync(join(folder, 'cut.ndjson'), 'utf8');
    linkSync(join(folder, 'cut.ndjson'), join(folder, 'again.ndjson'));
    for (const out of ['cut.ndjson', './cut.ndjson', 'again.ndjson']) {
      const args = ['record', '--from', 'cut.ndjson', '--to', 'har', '-o', out];
      expect(await edgeproof(args, folder)).toMatchObject({
        code: 2,
        stderr: `${out} is read, so it cannot be written, too; name another file with --out\n`,
      });
    }
    expect(readFileSync(join(folder, 'cut.ndjson'), 'utf8')).toBe(before);
  });

  it.each([['har'], ['scenario']])('has its first problems shown in a conversion to %s', async (to) => {
    const [head, exchange] = readFileSync(join(folder, 'cut.ndjson'), 'utf8').split('\n');
    writeFileSync(join(folder, 'many.ndjson'), `${head}\n${exchange}\n${'{"kind"\n'.repeat(5_000)}`);
    const args = ['record', 'edge.yaml', '--from', 'many.ndjson', '--to', to];
    const { code, stderr } = await edgeproof(args, folder);
    const lines = stderr.trimEnd().split('\n');
    expect([code, lines.length]).toEqual([0, 21]);
    expect(lines[0]).toMatch(/^many\.ndjson: line 3: /);
    expect(lines[20]).toBe('and 4,980 further problems');
  });
});
