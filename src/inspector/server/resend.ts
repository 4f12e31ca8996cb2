import { type RequestOptions, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { isRedacted } from '../../http/secrets.ts';
import { failureText } from '../../diagnostics/system_failure.ts';
import type { ResendAnswer } from '../wire.ts';
import type { InspectorContext } from './context.ts';
import { redactedRecord } from './detail.ts';
import { RequestError, invalid, memberOf, optionalTextIn } from './handler.ts';
import type { KeptExchange } from './kept.ts';

/** Where the edge listens. */
export interface Listens {
  readonly host: string;
  readonly port: number;
  /** Port for TLS; null without one. */
  readonly tlsPort: number | null;
  /** Whether TLS connections begin with a PROXY protocol header, which is not sent here. */
  readonly tlsNeedsProxyHeader: boolean;
}

interface Outgoing {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** How long the answer to a request that is sent again may take. */
const ANSWER_MS = 30_000;
/** Bytes of the answer that are read before the connection is closed. */
const READ_BYTES = 16_777_216;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Fields that a connection of our own has, or that frame the body. */
const OWN: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'transfer-encoding',
  'keep-alive',
  'expect',
]);

/** Sends an exchange again through the listener, with the parts of `edit` in the place of its own. */
export async function resend(
  kept: KeptExchange,
  edit: unknown,
  listens: Listens,
  context: InspectorContext,
): Promise<ResendAnswer> {
  const { request } = kept.record();
  const notes: string[] = ['the client is this machine'];
  if (request.version === '2.0') notes.push('it is sent as HTTP/1.1');
  const bytes =
    request.body.text === undefined
      ? Buffer.from(request.body.base64 ?? '', 'base64')
      : Buffer.from(request.body.text);
  const given = bodyIn(edit);
  if (given === null && request.body.truncated === true)
    throw new RequestError(
      409,
      'unavailable',
      'only the beginning of its body is kept; edit the body to send it',
    );
  if (given === null && bytes.length === 0 && request.body.bytes !== 0)
    notes.push('its body was not kept and is not sent');
  const outgoing: Outgoing = {
    method: optionalTextIn(edit, 'method') ?? request.method,
    target: unredacted(
      optionalTextIn(edit, 'target'),
      request.target,
      redactedRecord(kept.record(), context).request.target,
    ),
    headers: headersOf(kept, edit, context),
    body: given ?? bytes,
  };
  check(outgoing);
  const { status, port } = await send(outgoing, request.scheme, kept, listens, context);
  const seq =
    context.store
      .list()
      .findLast(
        (each) => each.kind === 'exchange' && each.resentFrom === kept.seq && each.connectionPort() === port,
      )?.seq ?? null;
  return { seq, status, notes };
}

/** The headers to send: where the page shows a redacted value and did not change it, the real one. */
function headersOf(kept: KeptExchange, edit: unknown, context: InspectorContext): readonly string[] {
  const { headers } = kept.record().request;
  const given = memberOf(edit, 'headers');
  if (given === undefined) return headers;
  if (!Array.isArray(given) || given.length % 2 !== 0 || !given.every((each) => typeof each === 'string'))
    throw invalid('`headers` must be a list of names and values');
  const shown = redactedRecord(kept.record(), context).request.headers;
  return (given as readonly string[]).map((value, at, all) => {
    if (at % 2 === 0 || !isRedacted(value)) return value;
    const name = all[at - 1]!.toLowerCase();
    const place = shown.findIndex(
      (each, index) => index % 2 === 1 && each === value && shown[index - 1]!.toLowerCase() === name,
    );
    if (place < 0) throw invalid(`the value of ${name} has a redacted part; replace all of it`);
    return headers[place]!;
  });
}

function unredacted(given: string | undefined, real: string, shown: string): string {
  if (given === undefined || given === shown) return real;
  if (isRedacted(given)) throw invalid('the target has a redacted part; replace it');
  return given;
}

function bodyIn(edit: unknown): Buffer | null {
  const body = memberOf(edit, 'body');
  if (body === undefined) return null;
  const text = optionalTextIn(body, 'text');
  if (text === undefined) return Buffer.from(optionalTextIn(body, 'base64') ?? '', 'base64');
  if (isRedacted(text)) throw invalid('the body has a redacted part; replace it');
  return Buffer.from(text);
}

function check({ method, target, headers }: Outgoing): void {
  if (!TOKEN.test(method)) throw invalid('the method is not valid');
  if (!/^[/*][\x21-\x7e]*$/.test(target)) throw invalid('the target must begin with / and have no space');
  for (const [at, text] of headers.entries()) {
    const isValid = at % 2 === 0 ? TOKEN.test(text) : !/[\r\n\0]/.test(text);
    if (!isValid) throw invalid(`the field ${JSON.stringify(headers[at - (at % 2)])} is not valid`);
  }
}

function send(
  { method, target, headers, body }: Outgoing,
  scheme: 'http' | 'https',
  { seq }: KeptExchange,
  listens: Listens,
  { watch }: InspectorContext,
): Promise<{ readonly status: number; readonly port: number }> {
  const isTls = scheme === 'https';
  const port = isTls ? listens.tlsPort : listens.port;
  if (port === null || (isTls && listens.tlsNeedsProxyHeader))
    throw new RequestError(409, 'unavailable', 'the edge has no listener for this request on this machine');
  const fields = headers.filter((_, at) => !OWN.has(headers[at - (at % 2)]!.toLowerCase()));
  const host = fields.find((_, at) => at % 2 === 1 && fields[at - 1]!.toLowerCase() === 'host') ?? '';
  const options: RequestOptions & { readonly servername?: string; readonly rejectUnauthorized?: boolean } = {
    host: loopbackOf(listens.host),
    port,
    method,
    path: target,
    headers: [
      ...fields,
      'connection',
      'close',
      ...(body.length > 0 ? ['content-length', String(body.length)] : []),
    ],
    agent: false,
    timeout: ANSWER_MS,
    // The certificate is our own, on this machine.
    ...(isTls && { servername: host.replace(/:\d+$/, ''), rejectUnauthorized: false }),
  };
  return new Promise((resolve, reject) => {
    let local = 0;
    const done = (status: number): void => {
      watch.resent.delete(local);
      resolve({ status, port: local });
    };
    const sent = (isTls ? tlsRequest : plainRequest)(options, (response) => {
      const { statusCode = 0 } = response;
      let read = 0;
      response.on('data', (piece: Buffer) => {
        read += piece.length;
        if (read > READ_BYTES) response.destroy();
      });
      // A stream may have no end: its row is there already.
      const early = setTimeout(() => done(statusCode), 500);
      response.once('close', () => {
        clearTimeout(early);
        done(statusCode);
      });
    });
    sent.once('upgrade', (response, socket) => {
      socket.destroy();
      done(response.statusCode ?? 101);
    });
    sent.once('socket', (socket) => {
      socket.once('connect', () => {
        local = socket.localPort ?? 0;
        watch.resent.set(local, seq);
      });
    });
    sent.once('timeout', () => sent.destroy(new Error('no answer in time')));
    sent.once('error', (error: NodeJS.ErrnoException) => {
      watch.resent.delete(local);
      if (local > 0) return resolve({ status: 0, port: local });
      reject(new RequestError(502, 'unavailable', `it could not be sent: ${failureText(error)}`));
    });
    sent.end(body);
  });
}

/** An address of this machine at which a listener of all addresses is reached. */
function loopbackOf(host: string): string {
  if (host === '0.0.0.0' || host === '') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}
