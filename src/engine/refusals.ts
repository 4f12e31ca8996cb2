import { escapeHtml } from '../http/ascii.ts';
import type { ProblemCode } from '../http/message_problem.ts';
import type { LocalResponse } from './questions.ts';
import type { Branding } from './branding.ts';

/**
 * A response that the edge produces: a small page whose `<noscript>` text names the code, as services of this
 * kind send, and the code in a header field. `code` null is for refusals without a code.
 */
export function refusal(
  branding: Branding,
  status: number,
  code: number | null,
  message: string,
): LocalResponse {
  const text = escapeHtml(message);
  const named = code === null ? text : `${text} (${branding.errorCode(code)})`;
  const body =
    `${PAGE_BEGIN}${status} ${text}</title></head>\n` +
    `<body><h1>${status}</h1><p>${named}</p><noscript>${named}</noscript></body></html>\n`;
  const headers = ['content-type', 'text/html; charset=utf-8', 'cache-control', 'no-store'];
  if (code !== null) headers.push(branding.errorField, branding.errorCode(code));
  return { status, headers, body };
}

/** Whether a text is a page of `refusal`, and not an answer that a configuration has. */
export function isRefusalPage(text: string): boolean {
  return text.startsWith(PAGE_BEGIN) && text.endsWith('</noscript></body></html>\n');
}

const PAGE_BEGIN = '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>';

/** Why the engine itself, not a module, ended an exchange. `explain` prints the sentence. */
export const ENGINE_REASONS = {
  'connection.handshake': { message: 'the TLS handshake failed', status: 0, code: null },
  'route.matched': { message: 'this route is the most specific that matches', status: 0, code: null },
  'route.unknown_host': { message: 'no edge has this host', status: 404, code: 3200 },
  'route.no_match': { message: 'no route of this edge matches the path', status: 404, code: 3200 },
  'route.ambiguous_path': {
    message: 'another spelling of this path, as an upstream may read it, belongs to another route',
    status: 400,
    code: null,
  },
  'request.malformed': { message: 'the request is not valid HTTP', status: 400, code: null },
  'request.method': { message: 'this method is not supported by edges', status: 405, code: null },
  'request.client_unknown': {
    message: 'the address of the client cannot be read, so access cannot be decided',
    status: 403,
    code: null,
  },
  'request.expectation': { message: 'the edge does not support this expectation', status: 417, code: null },
  'request.timeout': { message: 'the request did not arrive in time', status: 408, code: null },
  'request.too_large': { message: 'the request body is too large', status: 413, code: null },
  'request.target_too_long': { message: 'the request target is too long', status: 414, code: null },
  'request.head_too_large': { message: 'the head of the request is too large', status: 431, code: null },
  'request.not_implemented': {
    message: 'the edge does not support this transfer coding',
    status: 501,
    code: null,
  },
  'request.version': { message: 'the edge does not support this version of HTTP', status: 505, code: null },
  'backend.none': { message: 'the route has no backend', status: 503, code: 724 },
  'backend.offline': {
    message: 'no agent with a tunnel for this backend is online',
    status: 503,
    code: 6528,
  },
  'backend.no_weight': {
    message: 'no child of the weighted backend has a weight above zero',
    status: 503,
    code: 6515,
  },
  'upstream.answered': { message: 'the upstream responded', status: 0, code: null },
  'upstream.local': { message: 'the backend is a fixed response', status: 0, code: null },
  'upstream.connect': { message: 'the upstream could not be reached', status: 502, code: 8012 },
  'upstream.overloaded': {
    message: 'the agent carries as many connections as it can',
    status: 503,
    code: null,
  },
  'upstream.timeout': { message: 'the upstream did not respond in time', status: 504, code: 3005 },
  'upstream.reset': {
    message: 'the upstream closed the connection before it responded',
    status: 502,
    code: 3006,
  },
  'upstream.invalid': { message: 'the upstream sent something that is not HTTP', status: 502, code: 3004 },
  'upstream.body_timeout': {
    message: 'the body of the request did not arrive in time',
    status: 408,
    code: null,
  },
  'upstream.body_malformed': {
    message: 'the body of the request is not valid HTTP',
    status: 400,
    code: null,
  },
  'upstream.body_extensions_too_large': {
    message: 'the chunk extensions of the request are too long',
    status: 413,
    code: null,
  },
  'upstream.body_trailers_too_large': {
    message: 'the trailers of the request are too large',
    status: 431,
    code: null,
  },
  'upstream.cancelled': { message: 'the client left before the upstream responded', status: 0, code: null },
  'engine.bug': {
    message: 'the edge failed while deciding; the request was stopped',
    status: 500,
    code: 2300,
  },
} as const satisfies Record<string, { message: string; status: number; code: number | null }>;

export type EngineReason = keyof typeof ENGINE_REASONS;

/** Why a listener refuses a request on its own, before anything can be decided about it. */
export type RefusalCode = ProblemCode | 'head_timeout';

/** The reason, which has the status, for each refusal of a listener. */
export const REFUSALS: Readonly<Record<RefusalCode, Extract<EngineReason, `request.${string}`>>> = {
  malformed: 'request.malformed',
  framing: 'request.malformed',
  expectation: 'request.expectation',
  head_too_large: 'request.head_too_large',
  head_timeout: 'request.timeout',
  target_too_long: 'request.target_too_long',
  version: 'request.version',
  method: 'request.method',
  transfer_coding: 'request.not_implemented',
};

/** The page for an engine reason. */
export function engineRefusal(branding: Branding, reason: EngineReason, note = ''): LocalResponse {
  const { message, status, code } = ENGINE_REASONS[reason];
  return refusal(branding, status, code, note === '' ? message : `${message}: ${note}`);
}

/** Why a connection ended as it did, apart from module reasons. `explain` prints the sentence. */
export const STREAM_REASONS = {
  'connect.matched': { message: 'this edge has the address' },
  'connect.unknown_port': { message: 'no edge has this port' },
  'connect.unknown_name': { message: 'no edge has this server name' },
  'connect.no_name': { message: 'the client sent no server name, so no edge can be found' },
  'connect.handshake': { message: 'the TLS handshake failed' },
  'backend.none': { message: 'the edge has no backend' },
  'backend.offline': { message: 'no agent with a tunnel for this backend is online' },
  'backend.no_weight': { message: 'no child of the weighted backend has a weight above zero' },
  'upstream.connected': { message: 'the backend accepted the connection' },
  'upstream.connect': { message: 'the backend could not be reached' },
  'upstream.not_dialled': { message: 'the backend is a fixed HTTP response and cannot be connected to' },
  'stream.ended': { message: 'both sides have ended' },
  'stream.client': { message: 'the client broke the connection' },
  'stream.upstream': { message: 'the backend broke the connection' },
  'stream.idle': { message: 'nothing was sent for too long' },
  'stream.drained': { message: 'the edge was stopped' },
  'stream.not_forwarded': { message: 'TLS was terminated before, and the internal endpoint expects TLS' },
  'engine.bug': { message: 'the edge failed while deciding; the connection was closed' },
} as const satisfies Record<string, { message: string }>;

export type StreamReason = keyof typeof STREAM_REASONS;
