import type { OutgoingHttpHeaders } from 'node:http';
import { HIGH_WATER_BYTES, PushBody } from '../io/push_body.ts';
import type { Forwarded } from '../io/ports.ts';
import type { UpstreamRequest } from '../engine/questions.ts';
import { contentLength } from '../http/content_length.ts';
import type { FieldList } from '../http/fields.ts';
import type { NodeRequest, NodeResponse, ReturnableBody } from './client_side.ts';

/**
 * Applies the edge's edits to the request in place, because the framework already holds a reference to the
 * object.
 */
export function editRequest(request: NodeRequest, edited: UpstreamRequest, body: ReturnableBody): void {
  const { target, method, headers } = edited;
  if (request.originalUrl !== undefined && request.originalUrl === request.url) request.originalUrl = target;
  request.url = target;
  request.method = method;
  const fields = [...headers, ...framingOf(request, edited)];
  show(request, { rawHeaders: fields, headers: headersOf(fields), headersDistinct: distinctOf(fields) });
  // As with an upstream of HTTP/1.1: trailers are not forwarded. Node sets them later, when the content ends.
  const nothing = { get: () => ({}), set: () => undefined, configurable: true };
  Object.defineProperties(request, {
    trailers: nothing,
    trailersDistinct: nothing,
    rawTrailers: { ...nothing, get: () => [] },
  });
  body.putBack(edited.body);
}

/**
 * Replaces what an application reads. Properties of its own, because Node computes some from a count of the client's fields,
 * keeps what other middleware has read, and allows no assignment over HTTP/2.
 */
function show(request: NodeRequest, views: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(views)) put(request, name, value);
}

/** Framing is not edited by the edge: the application sees the client's framing, or the new length. */
function framingOf({ headers }: NodeRequest, { body }: UpstreamRequest): string[] {
  if (body !== null) return ['content-length', String(body.length)];
  const length = headers['content-length'];
  if (length !== undefined) return ['content-length', length];
  const coding = headers['transfer-encoding'];
  return coding === undefined ? [] : ['transfer-encoding', coding];
}

/** Fields that occur once: the first of several values counts, as in Node's `message.headers`. */
// table: fields that Node does not join
const SINGLE: ReadonlySet<string> = new Set([
  'age',
  'authorization',
  'content-length',
  'content-type',
  'etag',
  'expires',
  'from',
  'host',
  'if-modified-since',
  'if-unmodified-since',
  'last-modified',
  'location',
  'max-forwards',
  'proxy-authorization',
  'referer',
  'retry-after',
  'server',
  'user-agent',
]);

/** Fields as Node shows them to applications. */
function headersOf(fields: FieldList): NodeRequest['headers'] {
  const headers: Record<string, string | string[]> = {};
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at]!.toLowerCase();
    const value = fields[at + 1]!;
    const before = Object.hasOwn(headers, name) ? headers[name] : undefined;
    if (name === 'set-cookie') put(headers, name, [...(Array.isArray(before) ? before : []), value]);
    else if (typeof before !== 'string') put(headers, name, value);
    else if (!SINGLE.has(name)) put(headers, name, `${before}${name === 'cookie' ? '; ' : ', '}${value}`);
  }
  return headers;
}

/** All values of each field, as in Node's `message.headersDistinct`. */
function distinctOf(fields: FieldList): Record<string, string[]> {
  const distinct: Record<string, string[]> = Object.create(null);
  for (let at = 0; at < fields.length; at += 2)
    (distinct[fields[at]!.toLowerCase()] ??= []).push(fields[at + 1]!);
  return distinct;
}

/** `defineProperty`, because a field may have the name of an inherited property such as `__proto__`. */
function put(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

type Chunk = string | Uint8Array;
type Done = (error?: Error | null) => void;

/** A response whose output goes to the edge instead of the client. */
interface Caught {
  readonly response: NodeResponse;
  readonly flow: PushBody;
  readonly answered: (forwarded: Forwarded) => void;
  headSent: boolean;
  ended: boolean;
}

/**
 * Replaces the methods of the response with a view: what the application writes becomes the upstream's answer,
 * and nothing reaches the client before the edge has processed it. `before` are fields that were set before the
 * edge ran. Resolves when the application has sent its head.
 */
export function catchResponse(
  response: NodeResponse,
  gone: AbortSignal,
  before: OutgoingHttpHeaders,
): Promise<Forwarded> {
  for (const [name, value] of Object.entries(before)) {
    if (value !== undefined) response.setHeader(name, value);
  }
  return new Promise((answered) => {
    const flow = new PushBody({
      pause: () => undefined,
      resume: () => void response.emit('drain'),
      cancel: () => undefined,
    });
    const caught: Caught = { response, flow, answered, headSent: false, ended: false };
    gone.addEventListener('abort', () => {
      flow.fail('left', 'the client is gone');
      answered({ failure: 'cancelled', detail: 'the client left before the application answered' });
    });
    for (const [name, value] of Object.entries(viewOf(caught))) {
      Object.defineProperty(response, name, { value, configurable: true, writable: true });
    }
    Object.defineProperty(response, 'headersSent', { get: () => caught.headSent, configurable: true });
    Object.defineProperty(response, 'writableEnded', { get: () => caught.ended, configurable: true });
  });
}

/** Takes the head that the application has sent, once. */
function commit(caught: Caught, given: unknown): void {
  if (caught.headSent) return;
  caught.headSent = true;
  const { response, flow, answered } = caught;
  const fields = fieldsOf(response, given);
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  flow.lengthBytes = contentLength(fields);
  answered({ head: { status: response.statusCode, headers: fields }, reused: true, body: flow });
}

function push(caught: Caught, chunk: Chunk, encoding: BufferEncoding | undefined): boolean {
  const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : Uint8Array.from(chunk);
  caught.flow.push(bytes);
  return caught.flow.queuedBytes < HIGH_WATER_BYTES;
}

/** The methods of a response, as in `http.ServerResponse`. */
function viewOf(caught: Caught) {
  const { response } = caught;
  return {
    writeHead: (status: number, ...rest: unknown[]) => {
      const [reason, headers] = rest;
      response.statusCode = status;
      commit(caught, typeof reason === 'string' ? headers : (headers ?? reason));
      return response;
    },
    flushHeaders: () => commit(caught, undefined),
    write: (chunk: Chunk, encoding?: BufferEncoding | Done, done?: Done) => {
      const [coding, called] = typeof encoding === 'function' ? [undefined, encoding] : [encoding, done];
      if (!caught.headSent) response.writeHead(response.statusCode);
      const hasRoom = push(caught, chunk, coding);
      if (called !== undefined) process.nextTick(called);
      return hasRoom;
    },
    end: (chunk?: Chunk | Done | null, encoding?: BufferEncoding | Done, done?: Done) => {
      if (caught.ended) return response;
      const last = typeof chunk === 'function' || chunk === null ? undefined : chunk;
      const coding = typeof encoding === 'function' ? undefined : encoding;
      const called = [chunk, encoding, done].find((each) => typeof each === 'function');
      if (!caught.headSent) {
        const size = last === undefined ? 0 : Buffer.byteLength(last, coding);
        if (!response.hasHeader('content-length') && size > 0) response.setHeader('content-length', size);
        // Middleware that waits for the head has replaced this `writeHead` with its own.
        response.writeHead(response.statusCode);
      }
      if (last !== undefined && last.length > 0) push(caught, last, coding);
      caught.ended = true;
      caught.flow.end();
      if (called !== undefined) response.once('finish', called);
      return response;
    },
  };
}

/** The fields set by `setHeader` and `writeHead`; `writeHead` wins. */
function fieldsOf(response: NodeResponse, given: unknown): string[] {
  const fields: string[] = [];
  const said = pairsOf(given);
  const names = new Set(said.map(([name]) => name.toLowerCase()));
  // Missing in the types, and absent over HTTP/2.
  const { getRawHeaderNames: raw } = response as { getRawHeaderNames?: () => string[] };
  for (const name of raw?.call(response) ?? response.getHeaderNames()) {
    if (names.has(name.toLowerCase())) continue;
    for (const value of valuesOf(response.getHeader(name))) fields.push(name, value);
  }
  for (const [name, value] of said) fields.push(name, value);
  return fields;
}

function pairsOf(given: unknown): (readonly [string, string])[] {
  if (Array.isArray(given)) {
    const items = given as readonly unknown[];
    if (items.every((each) => Array.isArray(each))) {
      return items.flatMap((pair) => {
        const [name, value] = pair as unknown as readonly [string, unknown];
        return valuesOf(value).map((each) => [name, each] as const);
      });
    }
    const pairs: (readonly [string, string])[] = [];
    for (let at = 0; at + 1 < items.length; at += 2) {
      for (const value of valuesOf(items[at + 1])) pairs.push([String(items[at]), value]);
    }
    return pairs;
  }
  if (typeof given !== 'object' || given === null) return [];
  return Object.entries(given as OutgoingHttpHeaders).flatMap(([name, value]) =>
    valuesOf(value).map((each) => [name, each] as const),
  );
}

function valuesOf(value: unknown): string[] {
  if (value === undefined) return [];
  return Array.isArray(value)
    ? value.map(String)
    : [typeof value === 'string' ? value : JSON.stringify(value)];
}
