import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import { replayedEdge } from '../../src/replay/decide.ts';
import { logReader } from '../../src/replay/read_log.ts';
import type { LogRecord } from '../../src/replay/log_record.ts';
import { replayText } from '../../src/replay/report_replay.ts';
import { replay } from '../../src/replay/replay.ts';
import { configOf, deny, policyOf, replayed } from './edges.ts';

const AT = Date.UTC(2026, 9, 10, 11, 55, 36);
const line = (value: object) => JSON.stringify(value);

/** One request, `GET https://shop.test/a?b=1` from 203.0.113.9:40000, as each server logs it. */
const LOGS = {
  'nginx combined':
    '203.0.113.9 - - [10/Oct/2026:13:55:36 +0200] "GET /a?b=1 HTTP/2.0" 403 612 "https://x.test/" "curl/8 \\x22x\\x22"',
  'nginx combined with the host':
    'shop.test 203.0.113.9 - ada [10/Oct/2026:13:55:36 +0200] "GET /a?b=1 HTTP/2.0" 403 612 "-" "curl/8"',
  'nginx JSON': line({
    time_iso8601: '2026-10-10T13:55:36+02:00',
    remote_addr: '203.0.113.9',
    remote_port: '40000',
    request_method: 'GET',
    request_uri: '/a?b=1',
    server_protocol: 'HTTP/2.0',
    scheme: 'https',
    host: 'shop.test',
    status: '403',
    http_user_agent: 'curl/8',
    http_x_lane: 'Blue',
    ssl_protocol: 'TLSv1.3',
    ssl_cipher: 'TLS_AES_256_GCM_SHA384',
  }),
  'AWS load balancer':
    'https 2026-10-10T11:55:36.000000Z app/lb/1 203.0.113.9:40000 10.0.0.1:80 0.0 0.0 0.0 403 403 34 366 "GET https://shop.test:443/a?b=1 HTTP/2.0" "curl/8" TLS_AES_256_GCM_SHA384 TLSv1.3 arn "Root=1" "shop.test" "-" 0 2026-10-10T11:55:36.000000Z "forward" "-" "-" "10.0.0.1:80" "403" "-" "-"',
  Cloudflare: line({
    ClientIP: '203.0.113.9',
    ClientSrcPort: 40_000,
    ClientRequestHost: 'shop.test',
    ClientRequestMethod: 'GET',
    ClientRequestURI: '/a?b=1',
    ClientRequestUserAgent: 'curl/8',
    ClientRequestScheme: 'https',
    ClientRequestProtocol: 'HTTP/2',
    ClientSSLProtocol: 'TLSv1.3',
    ClientSSLCipher: 'AEAD-AES256-GCM-SHA384',
    EdgeResponseStatus: 403,
    EdgeStartTimestamp: '2026-10-10T11:55:36Z',
  }),
  Envoy: line({
    start_time: '2026-10-10T11:55:36.000Z',
    method: 'GET',
    path: '/a?b=1',
    protocol: 'HTTP/2',
    response_code: 403,
    response_flags: '-',
    authority: 'shop.test',
    user_agent: 'curl/8',
    downstream_remote_address: '203.0.113.9:40000',
    requested_server_name: 'shop.test',
  }),
  Caddy: line({
    level: 'info',
    ts: AT / 1_000,
    logger: 'http.log.access',
    msg: 'handled request',
    request: {
      remote_ip: '203.0.113.9',
      remote_port: '40000',
      proto: 'HTTP/2.0',
      method: 'GET',
      host: 'shop.test',
      uri: '/a?b=1',
      headers: { 'User-Agent': ['curl/8'], 'X-Lane': ['Blue'], Authorization: ['REDACTED'] },
      tls: { version: 772, cipher_suite: 4865, proto: 'h2', server_name: 'shop.test' },
    },
    status: 403,
  }),
};

function read(...lines: readonly string[]): { records: LogRecord[]; problems: string[] } {
  const records: LogRecord[] = [];
  const problems: string[] = [];
  const reader = logReader({
    record: (record) => records.push(record),
    problem: (at, message) => problems.push(`${at}: ${message}`),
  });
  for (const [at, text] of lines.entries()) reader.line(text, at + 1);
  reader.end();
  return { records, problems };
}

/** What a replay says of a line, with a rule on the candidate only. */
function judged(text: string, expression: string): string {
  const { records, problems } = read(text);
  if (problems.length > 0) return problems[0]!;
  const running = replay(replayed(configOf(policyOf([deny(expression)]))), replayed(configOf({})));
  let said = '';
  running.take(records[0]!, ({ finding, cause }) => (said = `${finding}: ${cause}`));
  return said;
}

describe('access logs of other servers', () => {
  it.each(Object.entries(LOGS))('are read: %s', (name, text) => {
    const { records, problems } = read(text);
    expect(problems).toEqual([]);
    const [record] = records;
    expect(record!.head).toMatchObject({ method: 'GET', path: '/a', query: 'b=1', version: '2.0' });
    expect(record!.connection.client.text).toBe('203.0.113.9');
    expect(record!.atMs).toBe(AT);
    expect(record!.outcome).toMatchObject({ status: 403, errorCode: null, answeredBy: null });
    const hasHost = !record!.lost.has('host');
    expect(hasHost).toBe(name !== 'nginx combined');
    if (hasHost) expect(record!.head).toMatchObject({ host: 'shop.test' });
    const hasPort = !record!.lost.has('client port');
    expect(hasPort).toBe(!name.startsWith('nginx combined'));
    if (hasPort) expect(record!.connection.clientPort).toBe(40_000);
    expect(record!.lost.has('TLS version')).toBe(name === 'Envoy' || name.startsWith('nginx combined'));
  });

  const known = Object.entries(LOGS).filter(([name]) => name !== 'nginx combined');
  it.each(known)('decide what they have: %s', (_name, text) => {
    expect(judged(text, "req.url.path == '/a' && req.user_agent.startsWith('curl/')")).toMatch(/^changed/);
    expect(judged(text, "conn.client_ip == '198.51.100.1'")).toMatch(/^same/);
  });

  it.each(known)('have the rest as unknown: %s', (name, text) => {
    const hasAll = name === 'Caddy';
    expect(judged(text, "hasReqHeader('x-other')")).toMatch(hasAll ? /^same/ : /^unknown: whether x-other/);
    expect(judged(text, "hasReqHeader('x-lane')")).toMatch(
      hasAll || name === 'nginx JSON' ? /^changed/ : /^unknown: whether x-lane/,
    );
    expect(
      judged(text, "hasReqHeader('authorization') && getReqHeader('authorization')[0] == 'Basic YTpi'"),
    ).toMatch(/^unknown: (?:whether|value of) authorization/);
    const hasTls = !/Envoy|combined/.test(name);
    expect(judged(text, "conn.tls.version == 'TLSv1.3'")).toMatch(
      hasTls ? /^changed/ : /^unknown: TLS version/,
    );
  });

  it('without a host is unknown, unless the files are the same', () => {
    expect(judged(LOGS['nginx combined'], "req.method == 'GET'")).toBe('unknown: host');
    const { records } = read(LOGS['nginx combined']);
    const running = replay(replayed(configOf({})), replayed(configOf({})));
    running.take(records[0]!);
    expect(running.summary()).toMatchObject({ same: 1 });
    const other = replay(replayed(configOf({})), null);
    other.take(records[0]!);
    expect(replayText(other.summary(), () => null)).toContain('the log has no host');
  });

  it('without a host are for the only edge, if that is asked for', () => {
    const adopting = (...expressions: string[]) =>
      replayedEdge(createEdge(configOf(policyOf([deny(...expressions)]))).config, { adoptHosts: 'any' });
    const current = adopting('false');
    const counted = (expression: string) => {
      const running = replay(adopting(expression), current);
      running.take(read(LOGS['nginx combined']).records[0]!);
      return running.summary();
    };
    expect(counted("req.method == 'GET'")).toMatchObject({ changed: 1, unknown: 0 });
    expect(counted("req.host == 'shop.test'")).toMatchObject({ changed: 0, unknown: 1 });
  });

  it('say what is wrong with a line', () => {
    const { problems } = read(
      '203.0.113.9 - - [10/Oct/2026:13:55:36 +0200] "\\x16\\x03\\x01" 400 0 "-" "-"',
      line({ remote_addr: '203.0.113.9', request: 'GET / HTTP/1.1' }),
      line({ remote_addr: 'unix:', request: 'GET / HTTP/1.1', status: 200 }),
      'what is this',
      '{ "this": ',
    );
    expect(problems).toEqual([
      '1: the request line is not HTTP',
      '2: the line has no status',
      "3: 'unix:' is not an IP address",
      '4: this is not an event, a recorded exchange, a line of a known access log or a curl command line',
      '5: this is not JSON',
    ]);
  });

  it('may begin with a byte order mark', () => {
    const { records, problems } = read(`\uFEFF${LOGS['nginx combined']}`, LOGS['nginx JSON']);
    expect([records.length, problems]).toEqual([2, []]);
  });

  it('that are compressed say how to decompress them', () => {
    const { problems } = read(gzipSync(LOGS['nginx combined']).toString('utf8').split('\n')[0]!);
    expect(problems).toEqual([
      '1: the log is compressed: write `gunzip -c LOG | edgeproof replay -`, with the same options',
    ]);
  });
});
