import { connect as connectHttp2 } from 'node:http2';
import { request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { connect as connectTls } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { HOST } from './everything_on.ts';
import { type Headers, contentOf } from './requests.ts';

export interface Question {
  readonly port: number;
  readonly protocol: 'http1' | 'tls' | 'http2';
  readonly path: string;
  readonly headers: Headers;
  readonly bodyBytes: number;
  /** The client's address; default 127.0.0.1. */
  readonly from?: string;
}

export interface Answer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Decompressed. */
  readonly body: Buffer;
  readonly packed: boolean;
}

const ANSWER_WITHIN_MS = 10_000;

/** One request on a new connection; rejects if there is no complete response. */
export function ask(question: Question): Promise<Answer> {
  return question.protocol === 'http2' ? askHttp2(question) : askHttp1(question);
}

function askHttp1({ port, protocol, path, headers, bodyBytes, from }: Question): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = (protocol === 'tls' ? secureRequest : request)({
      host: '127.0.0.1',
      port,
      path,
      method: bodyBytes > 0 ? 'POST' : 'GET',
      agent: false,
      rejectUnauthorized: false,
      servername: HOST,
      timeout: ANSWER_WITHIN_MS,
      ...(from !== undefined && { localAddress: from }),
      headers: { ...headers, ...(bodyBytes > 0 && { 'Content-Length': String(bodyBytes) }) },
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer')));
    sent.on('error', reject);
    sent.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve(answerOf(response.statusCode ?? 0, response.headers, chunks)));
    });
    sent.end(contentOf(bodyBytes));
  });
}

function askHttp2({ port, path, headers, bodyBytes }: Question): Promise<Answer> {
  const { Host: authority = HOST, ...fields } = headers;
  return new Promise((resolve, reject) => {
    const session = connectHttp2(`https://${HOST}`, {
      createConnection: () =>
        connectTls({
          host: '127.0.0.1',
          port,
          servername: HOST,
          ALPNProtocols: ['h2'],
          rejectUnauthorized: false,
        }),
    });
    session.on('error', reject);
    const method = bodyBytes > 0 ? 'POST' : 'GET';
    const stream = session.request(
      { ...fields, ':authority': authority, ':path': path, ':method': method },
      { endStream: bodyBytes === 0 },
    );
    stream.setTimeout(ANSWER_WITHIN_MS, () => stream.destroy(new Error('no answer')));
    stream.on('error', (error) => {
      session.destroy();
      reject(error);
    });
    const chunks: Buffer[] = [];
    let head: Readonly<Record<string, unknown>> = {};
    stream.on('response', (got) => (head = got as Readonly<Record<string, unknown>>));
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      session.close();
      resolve(answerOf(Number(head[':status'] ?? 0), head, chunks));
    });
    if (bodyBytes > 0) stream.end(contentOf(bodyBytes));
  });
}

function answerOf(status: number, fields: object, chunks: readonly Buffer[]): Answer {
  const headers = Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (name.startsWith(':') ? [] : [[name, String(value)]])),
  ) as Record<string, string>;
  const packed = headers['content-encoding'] === 'gzip';
  const bytes = Buffer.concat(chunks);
  return { status, headers, body: packed ? gunzipSync(bytes) : bytes, packed };
}
