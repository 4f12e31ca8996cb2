import {
  DYN,
  declareScope,
  headerFields,
  headerMap,
  INT,
  list,
  map,
  STANDARD,
  STRING,
  stringMap,
  stringWithFields,
  variable,
} from '../../src/cel/index.ts';
import type { Scope, Value } from '../../src/cel/index.ts';

/** A small request with all kinds of values of a policy language: strings with fields, header maps, absent values. */
export class Url {
  readonly text: string;
  readonly path: string;
  readonly port: number | undefined;

  constructor(text: string, path: string, port?: number) {
    this.text = text;
    this.path = path;
    this.port = port;
  }
}

export interface Request {
  readonly method: string;
  readonly url: Url;
  readonly length: number | undefined;
  readonly headers: Readonly<Record<string, Value>>;
  readonly tags: readonly string[];
  readonly vars: Readonly<Record<string, Value>>;
}

const URL_TYPE = stringWithFields(
  'Url',
  {
    path: { type: STRING, doc: 'Path.', read: (url: Url) => url.path },
    port: { type: INT, doc: 'Port, when written.', optional: true, read: (url: Url) => url.port },
  },
  (url: Url) => url.text,
);

export const SCOPE: Scope<Request> = declareScope<Request>({
  name: 'on_http_request',
  functions: STANDARD,
  variables: [
    variable('req.method', STRING, 'Method.', { read: (asked) => asked.method }),
    variable('req.url', URL_TYPE, 'URL.', {
      read: (asked) => asked.url,
      readText: (asked) => asked.url.text,
    }),
    variable('req.content_length', INT, 'Size.', { optional: true, read: (asked) => asked.length }),
    variable('req.headers', headerMap(), 'Headers.', { read: (asked) => asked.headers }),
    variable('req.tags', list(STRING), 'Tags.', { read: (asked) => asked.tags }),
    variable('vars', map(STRING, DYN), 'Variables.', { read: (asked) => asked.vars }),
  ],
  unavailable: [{ name: 'res', message: 'the response is known from on_http_response on' }],
});

export function request(over: Partial<Request> = {}): Request {
  const headers: Record<string, Value> = headerFields();
  headers['user-agent'] = ['Mozilla/5.0 GPTBot/1.0'];
  headers['host'] = ['shop.example'];
  return {
    method: 'GET',
    url: new Url('https://shop.example/api/v1', '/api/v1'),
    length: undefined,
    headers,
    tags: ['a', 'b'],
    vars: stringMap(),
    ...over,
  };
}
