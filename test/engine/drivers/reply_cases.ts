import { gunzipSync } from 'node:zlib';
import { expect } from 'vitest';

/** Exchanges whose replies differ in how their bodies are processed. */
export interface ReplyCase {
  readonly name: string;
  readonly modules?: object;
  /** A response from the configuration, in place of the upstream. */
  readonly backend?: object;
  readonly exchanges: readonly Exchanged[];
}

export interface Exchanged {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: Uint8Array;
  };
  readonly upstream: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: Uint8Array;
    readonly length: 'declared' | 'chunked';
  };
  readonly check?: (got: { readonly bytes: Buffer; readonly status: number }) => void;
}

const TEXT = { 'content-type': 'text/plain', etag: '"one"' };
const GZIP = { 'accept-encoding': 'gzip' };
const DEFLATE = { 'accept-encoding': 'deflate' };

/** Text with repetitions and without; `bytes` long. */
function words(bytes: number): Buffer {
  let text = '';
  for (let at = 0; text.length < bytes; at = (at * 7 + 13) % 9_973) text += `word${at} `;
  return Buffer.from(text.slice(0, bytes));
}

function exchanged(
  name: string,
  method: string,
  accepts: Readonly<Record<string, string>>,
  told: Partial<Exchanged['upstream']>,
  check?: Exchanged['check'],
): Exchanged {
  return {
    name,
    request: { method, headers: { 'accept-encoding': 'identity', ...accepts } },
    upstream: { status: 200, headers: TEXT, body: words(300), length: 'declared', ...told },
    ...(check && { check }),
  };
}

const METHODS_AND_STATUSES = (accepts: Readonly<Record<string, string>>): Exchanged[] => [
  exchanged('GET', 'GET', accepts, {}),
  exchanged('GET, chunked', 'GET', accepts, { length: 'chunked' }),
  exchanged('HEAD', 'HEAD', accepts, {}),
  exchanged('HEAD, chunked', 'HEAD', accepts, { length: 'chunked' }),
  ...[204, 205, 304, 404, 500].map((status) =>
    exchanged(String(status), 'GET', accepts, { status, ...(status < 400 && { body: Buffer.alloc(0) }) }),
  ),
  exchanged('an empty body', 'GET', accepts, { body: Buffer.alloc(0) }),
];

const policy = (phase: string, actions: readonly object[]) => ({
  traffic_policy: { value: JSON.stringify({ [phase]: [{ actions }] }) },
});
const findReplace = {
  type: 'response-body-find-replace',
  config: { replacements: [{ from: 'word', to: 'phrase' }] },
};

export const REPLY_CASES: readonly ReplyCase[] = [
  { name: 'as the upstream sends it', exchanges: METHODS_AND_STATUSES({}) },
  {
    name: 'compressed by the module',
    modules: { compression: {} },
    exchanges: [
      ...METHODS_AND_STATUSES(GZIP),
      ...[1, 100, 2_048, 2_049, 4_096, 4_097, 65_536, 65_537, 200_000].flatMap((bytes) => [
        exchanged(`gzip of ${bytes} bytes`, 'GET', GZIP, { body: words(bytes) }, ({ bytes: got }) =>
          expect(gunzipSync(got)).toEqual(words(bytes)),
        ),
        exchanged(`deflate of ${bytes} bytes`, 'GET', DEFLATE, { body: words(bytes) }),
      ]),
      ...[300, 3_000].flatMap((bytes) => [
        exchanged(`gzip of ${bytes} bytes, chunked`, 'GET', GZIP, { body: words(bytes), length: 'chunked' }),
      ]),
      ...[GZIP, DEFLATE].map((accepts) =>
        exchanged(`events, ${accepts['accept-encoding']}`, 'GET', accepts, {
          headers: { 'content-type': 'text/event-stream' },
          body: Buffer.from('data: one\n\ndata: two\n\n'),
        }),
      ),
    ],
  },
  {
    name: 'a response of the configuration, compressed',
    modules: { compression: {} },
    backend: { status_code: 200, headers: { 'content-type': 'text/plain' }, body: words(3_000).toString() },
    exchanges: [exchanged('GET', 'GET', GZIP, {}), exchanged('HEAD', 'HEAD', GZIP, {})],
  },
  {
    name: 'edited by a policy',
    modules: policy('on_http_response', [findReplace]),
    exchanges: METHODS_AND_STATUSES({}),
  },
  {
    name: 'edited by a policy and compressed',
    modules: { ...policy('on_http_response', [findReplace]), compression: {} },
    exchanges: METHODS_AND_STATUSES(GZIP),
  },
  {
    name: 'events edited by a policy',
    modules: policy('on_event_stream_message', [
      { type: 'sse-find-replace', config: { replacements: [{ field: 'data', from: 'one', to: 'three' }] } },
    ]),
    exchanges: ['GET', 'HEAD'].map((method) =>
      exchanged(
        method,
        method,
        {},
        {
          headers: { 'content-type': 'text/event-stream' },
          body: Buffer.from('data: one\n\ndata: two\n\n'),
        },
      ),
    ),
  },
  {
    name: 'stopped before the upstream',
    modules: policy('on_http_request', [{ type: 'deny', config: { status_code: 403 } }]),
    exchanges: [
      exchanged('GET', 'GET', GZIP, {}),
      exchanged('HEAD', 'HEAD', GZIP, {}),
      posted('a body that nothing reads', {}),
    ],
  },
  {
    name: 'a custom response',
    modules: {
      ...policy('on_http_request', [
        { type: 'custom-response', config: { status_code: 200, body: words(900).toString() } },
      ]),
      compression: {},
    },
    exchanges: [exchanged('GET', 'GET', GZIP, {}), exchanged('HEAD', 'HEAD', GZIP, {})],
  },
  {
    name: 'compressed by a policy',
    modules: policy('on_http_response', [
      { type: 'compress-response', config: { algorithms: ['br', 'zstd', 'gzip', 'deflate'] } },
    ]),
    exchanges: [
      ...['br', 'zstd', 'gzip', 'deflate'].flatMap((coding) => [
        exchanged(`${coding} of 3,000 bytes`, 'GET', { 'accept-encoding': coding }, { body: words(3_000) }),
        exchanged(
          `events, ${coding}`,
          'GET',
          { 'accept-encoding': coding },
          {
            headers: { 'content-type': 'text/event-stream' },
            body: Buffer.from('data: one\n\ndata: two\n\n'),
          },
        ),
      ]),
      exchanged('br of 40,000 bytes', 'GET', { 'accept-encoding': 'br' }, { body: words(40_000) }),
    ],
  },
  { name: 'a request with a body', exchanges: [posted('forwarded', {})] },
  {
    name: 'a request whose body a policy edits',
    modules: policy('on_http_request', [
      { type: 'request-body-find-replace', config: { replacements: [{ from: 'word', to: 'phrase' }] } },
    ]),
    exchanges: [posted('read by the edge', {})],
  },
  {
    name: 'a request whose body is read and stopped',
    modules: policy('on_http_request', [
      { type: 'request-body-find-replace', config: { replacements: [{ from: 'word', to: 'phrase' }] } },
      { type: 'deny', config: { status_code: 403 } },
    ]),
    exchanges: [posted('POST', {})],
  },
];

function posted(name: string, accepts: Readonly<Record<string, string>>): Exchanged {
  const made = exchanged(name, 'POST', accepts, {});
  return { ...made, request: { ...made.request, body: words(200) } };
}
