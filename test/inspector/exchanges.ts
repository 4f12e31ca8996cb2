import type { ExchangeRow } from '../../src/inspector/wire.ts';
import type { ExchangeDetail, RuleDetail } from '../../src/inspector/wire_detail.ts';

/** Exchanges as the wire has them, for tests of the page: all that is not given is plain. */

const AT_MS = Date.UTC(2026, 0, 2, 9, 14, 5);

export function rowOf(seq: number, parts: Partial<ExchangeRow> = {}): ExchangeRow {
  return {
    kind: 'exchange',
    seq,
    atMs: AT_MS + seq * 7,
    tookMs: 1.2 + (seq % 40) / 10,
    state: 'done',
    protocol: 'http/1.1',
    host: 'shop.test',
    verdict: 'pass',
    by: 'upstream',
    code: 'upstream.answered',
    pointer: null,
    place: null,
    backend: 'app',
    tunnel: null,
    clientIp: '203.0.113.9',
    requestBytes: 0,
    responseBytes: 512 + seq,
    revision: 1,
    pinned: false,
    eventId: `ev_${seq}`,
    method: 'GET',
    scheme: 'https',
    target: `/items/${seq}`,
    status: 200,
    mediaType: 'application/json',
    resentFrom: null,
    ...parts,
  };
}

export const PLACE = { file: 'edge.yaml', line: 5, column: 9 };

/** A row that a filter stopped. */
export const stoppedRow = (seq: number, parts: Partial<ExchangeRow> = {}): ExchangeRow =>
  rowOf(seq, {
    target: '/admin',
    status: 403,
    verdict: 'stop',
    by: 'ip_restriction',
    code: 'ip.denied',
    backend: null,
    place: PLACE,
    ...parts,
  });

const SOURCE = "req.method == 'POST' && size(req.headers) > 2";

const RULE: RuleDetail = {
  name: 'only posts',
  pointer: '/edges/https/shop/routes/0/traffic_policy/on_http_request/0',
  place: { file: 'edge.yaml', line: 7, column: 5 },
  applied: false,
  reason: "req.method == 'POST' is false (req.method is 'GET')",
  expressions: [
    {
      pointer: '/edges/https/shop/routes/0/traffic_policy/on_http_request/0/expressions/0',
      place: { file: 'edge.yaml', line: 7, column: 5 },
      source: SOURCE,
      value: 'false',
      decided: { start: 0, end: 20, value: 'false', skipped: null },
      parts: [
        { start: 0, end: 20, value: 'false', skipped: null },
        { start: 0, end: 10, value: "'GET'", skipped: null },
        { start: 24, end: SOURCE.length, value: null, skipped: 'the part before it was false' },
      ],
    },
  ],
};

type Step = NonNullable<ExchangeDetail['explanation']>['steps'][number];

function stepsOf(row: ExchangeRow): Step[] {
  const step = (parts: Partial<Step>): Step => ({
    phase: 'request',
    module: 'route',
    verdict: 'pass',
    code: 'route.matched',
    message: 'The most specific route.',
    detail: {},
    pointer: null,
    place: null,
    tookMicros: 0.4,
    ...parts,
  });
  return [
    step({ phase: 'route', detail: { match: '/' } }),
    step({
      module: 'traffic_policy',
      code: 'policy.passed',
      message: 'No action stopped it.',
      tookMicros: 6.1,
      rules: [RULE],
    }),
    row.verdict === 'stop'
      ? step({
          module: row.by,
          verdict: 'stop',
          code: row.code,
          message: 'The address is not allowed.',
          detail: { address: row.clientIp },
          place: row.place,
        })
      : step({
          phase: 'upstream',
          module: 'upstream',
          code: row.code,
          message: 'It answered.',
          detail: { status: row.status },
          tookMicros: null,
        }),
  ];
}

/** The details of a row. */
export function detailOf(row: ExchangeRow, parts: Partial<ExchangeDetail> = {}): ExchangeDetail {
  const steps = stepsOf(row);
  const isAsked = row.backend !== null;
  const answer = {
    status: row.status ?? 200,
    headers: ['Content-Type', 'application/json', 'Server', 'app'],
    body: { bytes: 24, text: '{"name":"lamp","price":9}' },
  };
  const response = {
    ...answer,
    headers: ['Content-Type', 'application/json', 'X-Served-By', 'edgeproof'],
  };
  return {
    kind: 'exchange',
    row,
    exchange: {
      at: new Date(row.atMs).toISOString(),
      request: {
        method: row.method,
        scheme: 'https',
        target: row.target,
        version: '1.1',
        headers: ['Host', row.host, 'User-Agent', 'curl/8', 'Accept', '*/*'],
        body: { bytes: 0, text: '' },
      },
      client: {
        ip: row.clientIp,
        port: 4711,
        server_ip: '127.0.0.1',
        server_port: 443,
        server_name: row.host,
        connected: new Date(row.atMs).toISOString(),
        tls: null,
      },
      forwards: isAsked
        ? [
            {
              backend: 'app',
              address: 'localhost:3000',
              target: row.target,
              headers: [
                'Host',
                'localhost:3000',
                'User-Agent',
                'curl/8',
                'Accept',
                '*/*',
                'X-Forwarded-For',
                row.clientIp,
              ],
              response: answer,
              reused: false,
            },
          ]
        : [],
      fetches: [],
      response: isAsked
        ? response
        : {
            status: row.status ?? 0,
            headers: ['Content-Type', 'text/plain'],
            body: { bytes: 10, text: 'forbidden\n' },
          },
      event: null,
      trace: [],
      redactions: [],
    },
    explanation: { steps, decidedBy: steps.length - 1, text: '' },
    event: {
      event_id: `ev_${row.seq}`,
      event_type: 'http_request_complete.v0',
      event_timestamp: new Date(row.atMs).toISOString(),
      object: { http: { response: { status_code: row.status } } } as never,
    },
    timing: {
      startMs: row.atMs,
      connectedMs: row.atMs - 30,
      forwardedAfter: isAsked ? 0.3 : null,
      answeredAfter: isAsked ? 2.1 : null,
      repliedAfter: 2.3,
      endedAfter: row.tookMs,
      forwards: isAsked ? [{ after: 0.3, tookMs: 1.8 }] : [],
    },
    connection: {
      clientIp: row.clientIp,
      clientPort: 4711,
      serverIp: '127.0.0.1',
      serverPort: 443,
      serverName: row.host,
      tls: {
        version: 'TLSv1.3',
        cipherSuite: 'TLS_AES_128_GCM_SHA256',
        alpn: 'http/1.1',
        clientCertificate: null,
      },
    },
    identity: null,
    frames: null,
    responseBody: null,
    ...parts,
  };
}
