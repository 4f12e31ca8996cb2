import { createRequire } from 'node:module';
import type { ReadMessage, ReadStream, Stream } from './messages.ts';

/** Node's parser as used by `node:http`, without sockets and streams. */
interface Parser {
  [callback: number]: unknown;
  initialize(type: number, resource: object, maxHeaderBytes: number, lenient: number): void;
  execute(bytes: Buffer): number | (Error & { readonly code: string; readonly reason: string });
  finish(): undefined | (Error & { readonly code: string; readonly reason: string });
  close(): void;
}

interface ParserClass {
  new (): Parser;
  readonly REQUEST: number;
  readonly RESPONSE: number;
  readonly kOnHeaders: number;
  readonly kOnHeadersComplete: number;
  readonly kOnBody: number;
  readonly kOnMessageComplete: number;
  readonly kLenientNone: number;
}

const { HTTPParser, methods } = createRequire(import.meta.url)('_http_common') as {
  readonly HTTPParser: ParserClass;
  readonly methods: readonly string[];
};

/** What follows a head, in the convention of `node:http`: continue, or no content. */
const GO_ON = 0;
const SKIP_BODY = 1;

/** Parses a stream with llhttp in its strict mode. */
export function llhttpReads(stream: Stream, type: 'request' | 'response'): ReadStream {
  const parser = new HTTPParser();
  parser.initialize(
    HTTPParser[type === 'request' ? 'REQUEST' : 'RESPONSE'],
    {},
    1_048_576,
    HTTPParser.kLenientNone,
  );
  const messages: ReadMessage[] = [];
  let early: string[] = [];
  let current: ReadMessage | null = null;
  let over = false;
  let lateUrl = '';
  parser[HTTPParser.kOnHeaders] = (fields: string[], url: string) => {
    // Trailers and the next head arrive by the same callback, after the content.
    if (current !== null) return;
    early = [...early, ...fields];
    lateUrl += url;
  };
  parser[HTTPParser.kOnHeadersComplete] = (
    major: number,
    minor: number,
    fields: string[] | undefined,
    method: number | undefined,
    url: string | undefined,
    status: number | undefined,
    _reason: string | undefined,
    upgrade: boolean,
    keepAlive: boolean,
  ) => {
    current = {
      line: type === 'request' ? `${methods[method!]!} ${lateUrl}${url ?? ''}` : `${status}`,
      version: type === 'request' ? `${major}.${minor}` : '',
      fields: [...early, ...(fields ?? [])],
      body: '',
      whole: false,
    };
    early = [];
    lateUrl = '';
    messages.push(current);
    over = upgrade || (!keepAlive && (status === undefined || status >= 200));
    // RFC 9112 §6.3
    const isBodiless = status !== undefined && (status < 200 || status === 204 || status === 304);
    return isBodiless ? SKIP_BODY : GO_ON;
  };
  parser[HTTPParser.kOnBody] = (bytes: Buffer) => {
    if (current !== null) current.body += bytes.toString('latin1');
  };
  parser[HTTPParser.kOnMessageComplete] = () => {
    if (current !== null) current.whole = true;
    current = null;
  };
  let from = 0;
  let problem: string | null = null;
  for (const to of [...stream.cuts, stream.bytes.length]) {
    if (to === from) continue;
    const piece = Buffer.from(stream.bytes.subarray(from, to));
    const executed = parser.execute(piece);
    if (typeof executed !== 'number') {
      problem = executed.code;
      break;
    }
    from = to;
  }
  if (problem === null && type === 'response') parser.finish();
  parser.close();
  return { messages, problem, over, unread: 0 };
}
