import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import aws4 from 'aws4';
import { startKafka } from './kafka_double.ts';
import { decodedLogs } from './otlp_decoder.ts';
import { startNats } from './nats_double.ts';
import type { Receive, Reply } from './tcp_double.ts';
import type { TargetSettings } from '../../../src/events/targets.ts';

/** Doubles of services, made from their published APIs. Each checks a request as the service does. */

export interface Received {
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Without its content coding. */
  readonly body: string;
  readonly decoded: Buffer;
  /** As it was sent. */
  readonly bytes: Buffer;
}

export const KEYS = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
const CREDS = { aws_access_key_id: KEYS.accessKeyId, aws_secret_access_key: KEYS.secretAccessKey };

/** A server; the reply may depend on the request. */
export async function startDouble(reply: (received: Received) => Reply) {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { status, body, headers } = reply(await read(request));
    response
      .writeHead(status, headers)
      .end(typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body ?? {}));
  };
  // A client may leave before its request is read.
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { url, close: () => server.close() && server.closeAllConnections() };
}

async function read(request: IncomingMessage): Promise<Received> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const bytes = Buffer.concat(parts);
  const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
  const headers = request.headers as Record<string, string>;
  return {
    path: request.url!,
    method: request.method!,
    headers,
    body: body.toString(),
    decoded: body,
    bytes,
  };
}

/** Null if the signature is that of aws4, otherwise what it should be. */
export function signatureProblem(
  { path, method, headers, bytes }: Received,
  service: string,
  keys = KEYS,
): string | null {
  const names = /SignedHeaders=([^,]+)/.exec(headers['authorization'] ?? '')?.[1]?.split(';') ?? [];
  const signed = Object.fromEntries(names.map((name) => [name, headers[name]!]));
  const own = service === 's3' ? ['x-amz-content-sha256'] : [];
  for (const name of ['host', 'x-amz-date', 'content-type', ...own])
    if (signed[name] === undefined) return `${name} is not signed`;
  const request = {
    host: signed['host']!,
    path,
    method,
    headers: signed,
    body: bytes,
    service,
    region: 'eu-west-1',
    extraHeadersToIgnore: { 'content-length': true },
  };
  const expected = (aws4.sign(request, keys).headers as Record<string, string>)['Authorization'];
  return expected === headers['authorization'] ? null : `expected ${expected}`;
}

/** A service as a destination: how it is set up, and how it stores what it accepts. */
export interface Service {
  readonly target: (url: string) => TargetSettings;
  /** The service of the endpoint to replace, if the target has no URL. */
  readonly endpoint?: string;
  /** Starts a double of a protocol other than HTTP. */
  readonly start?: (receive: Receive) => Promise<{ readonly url: string; readonly close: () => unknown }>;
  /** The events of a request; throws if the service would refuse it. */
  readonly eventsOf?: (received: Received) => readonly string[];
  /** A reply that accepts these events. */
  readonly accept?: (count: number) => Reply;
  /** What the status says after a refusal; default: the status of HTTP. */
  readonly refusal?: RegExp;
  /** Whether a batch that is too large is divided; otherwise each of its messages is refused. Default true. */
  readonly divides?: boolean;
  /** A reply to requests other than events; null for those. */
  readonly aside?: (received: Received) => Reply | null;
  /** The size above which an event is refused. */
  readonly eventBytes: number;
}

function aws(service: string, operation: string, received: Received): Record<string, unknown> {
  const problem = signatureProblem(received, service);
  if (problem !== null) throw new Error(problem);
  if (received.headers['x-amz-target'] !== operation) throw new Error(received.headers['x-amz-target']);
  return JSON.parse(received.body) as Record<string, unknown>;
}

const recordsOf = (body: Record<string, unknown>): string[] =>
  (body['Records'] as { Data: string }[]).map(({ Data: data }) => Buffer.from(data, 'base64').toString());

const arn = (service: string, resource: string) => `arn:aws:${service}:eu-west-1:123456789012:${resource}`;

export const SERVICES: Readonly<Record<string, Service>> = {
  firehose: {
    endpoint: 'firehose',
    target: () => ({
      firehose: { auth: { creds: CREDS }, delivery_stream_arn: arn('firehose', 'deliverystream/edge') },
    }),
    eventsOf: (received) => {
      const body = aws('firehose', 'Firehose_20150804.PutRecordBatch', received);
      if (body['DeliveryStreamName'] !== 'edge') throw new Error('ResourceNotFoundException');
      return recordsOf(body).map((text) => text.replace(/\n$/, ''));
    },
    accept: (count) => ({
      status: 200,
      body: {
        FailedPutCount: 0,
        RequestResponses: Array.from({ length: count }, (_, at) => ({ RecordId: `${at}` })),
      },
    }),
    eventBytes: 1_024_000,
  },
  kinesis: {
    endpoint: 'kinesis',
    target: () => ({ kinesis: { auth: { creds: CREDS }, stream_arn: arn('kinesis', 'stream/edge') } }),
    eventsOf: (received) => {
      const body = aws('kinesis', 'Kinesis_20131202.PutRecords', received);
      if (body['StreamARN'] !== arn('kinesis', 'stream/edge')) throw new Error('ResourceNotFoundException');
      return recordsOf(body);
    },
    accept: (count) => ({
      status: 200,
      body: {
        FailedRecordCount: 0,
        Records: Array.from({ length: count }, (_, at) => ({ SequenceNumber: `${at}`, ShardId: 's' })),
      },
    }),
    eventBytes: 1_048_576,
  },
  cloudwatch_logs: {
    endpoint: 'logs',
    target: () => ({
      cloudwatch_logs: { auth: { creds: CREDS }, log_group_arn: arn('logs', 'log-group:/edge/events:*') },
    }),
    eventsOf: (received) => {
      const body = aws('logs', 'Logs_20140328.PutLogEvents', received);
      if (body['logGroupName'] !== '/edge/events') throw new Error('ResourceNotFoundException');
      const events = body['logEvents'] as { timestamp: number; message: string }[];
      if (events.some(({ timestamp }, at) => at > 0 && timestamp < events[at - 1]!.timestamp))
        throw new Error(
          'InvalidParameterException: Log events in a single PutLogEvents request must be in chronological order',
        );
      return events.map(({ message }) => message);
    },
    accept: () => ({ status: 200, body: {} }),
    eventBytes: 1_048_576,
  },
  datadog: {
    endpoint: 'datadog',
    target: () => ({
      datadog: { api_key: 'dd-key', ddtags: 'env:test', service: 'edge', ddsite: 'datadoghq.eu' },
    }),
    eventsOf: ({ path, headers, body }) => {
      if (path !== '/api/v2/logs' || headers['dd-api-key'] !== 'dd-key') throw new Error('403');
      const logs = JSON.parse(body) as { message: string; ddtags: string; service: string }[];
      if (logs.some(({ ddtags, service }) => ddtags !== 'env:test' || service !== 'edge'))
        throw new Error('400');
      return logs.map(({ message }) => message);
    },
    accept: () => ({ status: 202 }),
    eventBytes: 1_000_000,
  },
  s3: {
    target: (url) => ({
      s3: {
        auth: { creds: CREDS },
        bucket: 'edge-events',
        region: 'eu-west-1',
        prefix: 'a/dt=b',
        endpoint: url,
        max_bytes: 1_500_000,
        max_seconds: 0,
      },
    }),
    eventsOf: (received) => {
      const problem = signatureProblem(received, 's3');
      if (problem !== null) throw new Error(problem);
      if (received.method !== 'PUT') throw new Error('405');
      const events = received.body.trimEnd().split('\n');
      const { event_id: id } = JSON.parse(events[0]!) as { event_id: string };
      const path = `/edge-events/a/dt%3Db/2026/01/01/00/${id}.ndjson.gz`;
      if (received.path !== path) throw new Error(`${received.path}, not ${path}`);
      return events;
    },
    accept: () => ({ status: 200, body: '' }),
    eventBytes: 1_500_000,
  },
  azure_logs_ingestion: {
    endpoint: 'azure_login',
    target: (url) => ({
      azure_logs_ingestion: {
        tenant_id: 'tenant',
        client_id: 'client',
        client_secret: 's&cret',
        logs_ingestion_uri: url,
        data_collection_rule_id: 'dcr-1',
        data_collection_stream_name: 'Custom-Edge_CL',
      },
    }),
    aside: ({ path, body }) => {
      if (path !== '/tenant/oauth2/v2.0/token') return null;
      const asked = Object.fromEntries(new URLSearchParams(body));
      const expected = { grant_type: 'client_credentials', client_id: 'client', client_secret: 's&cret' };
      const right = Object.entries(expected).every(([name, value]) => asked[name] === value);
      return right && asked['scope'] === 'https://monitor.azure.com/.default'
        ? { status: 200, body: { access_token: 'token-1', expires_in: 3599 } }
        : { status: 401 };
    },
    eventsOf: ({ path, headers, body }) => {
      if (path !== '/dataCollectionRules/dcr-1/streams/Custom-Edge_CL?api-version=2023-01-01')
        throw new Error(path);
      if (headers['authorization'] !== 'Bearer token-1') throw new Error('401');
      return (JSON.parse(body) as { TimeGenerated: string; event_timestamp: string }[]).map(
        ({ TimeGenerated: time, ...event }) => {
          if (time !== event.event_timestamp) throw new Error('TimeGenerated');
          return JSON.stringify(event);
        },
      );
    },
    accept: () => ({ status: 204, body: '' }),
    eventBytes: 1_000_000,
  },
  otlp: {
    target: (url) => ({
      otlp: {
        url: `${url}collector/`,
        headers: { 'X-Key': 'k1' },
        encoding: 'protobuf',
        compression: 'gzip',
        signals: ['logs', 'traces'],
      },
    }),
    eventsOf: ({ path, headers, decoded }) => {
      const fields = [headers['content-type'], headers['content-encoding'], headers['x-key']];
      const found = [path, ...fields].join(' ');
      if (found !== '/collector/v1/logs application/x-protobuf gzip k1') throw new Error(found);
      return decodedLogs(decoded).map((record) => {
        const { event_id: id, event_type: type } = JSON.parse(record.body.stringValue) as Record<
          string,
          string
        >;
        const uid = record.attributes.find(({ key }) => key === 'log.record.uid')?.value.stringValue;
        if (uid !== id || record.eventName !== type) throw new Error(`${uid} ${record.eventName}`);
        return record.body.stringValue;
      });
    },
    accept: () => ({ status: 200, body: '' }),
    eventBytes: 1_048_576,
  },
  nats: {
    start: startNats,
    target: (url) => ({ nats: { servers: [url], subject: 'edge.events' } }),
    refusal: /nats refused 20 messages: maximum messages exceeded/,
    divides: false,
    eventBytes: 1_048_576,
  },
  kafka: {
    start: startKafka,
    target: (url) => ({ kafka: { brokers: [url], topic: 'edge-events', tls: false } }),
    refusal: /kafka: Not authorized to access topics/,
    eventBytes: 1_000_000,
  },
};
