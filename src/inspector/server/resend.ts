import { allValues, type FieldList, fieldPairs, isFieldName, isFieldValue } from '../../http/fields.ts';
import { isHopByHop } from '../../http/forwarding.ts';
import { isRedacted } from '../../http/secrets.ts';
import type { ResendAnswer } from '../wire.ts';
import type { InspectorContext } from './context.ts';
import { redactedRecord } from './detail.ts';
import { RequestError, invalid, memberOf, optionalTextIn } from './handler.ts';
import type { KeptExchange } from './kept.ts';
import { type ListenerAddress, type Outgoing, sendToListener } from './listener_request.ts';

/** Where the edge listens. */
export interface Listens {
  readonly host: string;
  readonly port: number;
  /** Port for TLS; null without one. */
  readonly tlsPort: number | null;
  /** Whether TLS connections begin with a PROXY protocol header, which is not sent here. */
  readonly tlsNeedsProxyHeader: boolean;
}

/** Hop-by-hop fields that the new connection has itself, or that mean nothing without it. */
const RENEWED: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'te',
  'transfer-encoding',
  'upgrade',
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
  const dropped = droppedNames(outgoing.headers);
  if (dropped.length > 0) notes.push(`fields of the old connection are not sent: ${dropped.join(', ')}`);
  const { status, port } = await send(outgoing, addressFor(request.scheme, listens), kept.seq, context);
  const seq =
    context.store
      .list()
      .findLast(
        (each) => each.kind === 'exchange' && each.resentFrom === kept.seq && each.connectionPort() === port,
      )?.seq ?? null;
  return { seq, status, notes };
}

/** Sends, and lets the watch recognise the new exchange by the port of its connection. */
async function send(
  outgoing: Outgoing,
  address: ListenerAddress,
  seq: number,
  { watch }: InspectorContext,
): Promise<{ readonly status: number; readonly port: number }> {
  let port = 0;
  const onPort = (local: number): void => {
    port = local;
    watch.resent.set(local, seq);
  };
  try {
    return { status: await sendToListener(outgoing, address, onPort), port };
  } finally {
    watch.resent.delete(port);
  }
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
  if (!isFieldName(method)) throw invalid('the method is not valid');
  if (!/^[/*][\x21-\x7e]*$/.test(target)) throw invalid('the target must begin with / and have no space');
  for (const [name, value] of fieldPairs(headers))
    if (!isFieldName(name) || !isFieldValue(value))
      throw invalid(`the field ${JSON.stringify(name)} is not valid`);
  if (allValues(headers, 'host').length > 1) throw invalid('a request can be sent with one Host only');
}

function droppedNames(headers: FieldList): string[] {
  const names = fieldPairs(headers).map(([name]) => name);
  return names.filter((name) => isHopByHop(name.toLowerCase()) && !RENEWED.has(name.toLowerCase()));
}

function addressFor(scheme: 'http' | 'https', { host, port, tlsPort, ...listens }: Listens): ListenerAddress {
  const tls = scheme === 'https';
  const at = tls ? tlsPort : port;
  if (at === null || (tls && listens.tlsNeedsProxyHeader))
    throw new RequestError(409, 'unavailable', 'the edge has no listener for this request on this machine');
  return { host: loopbackOf(host), port: at, tls };
}

/** An address of this machine at which a listener of all addresses is reached. */
function loopbackOf(host: string): string {
  if (host === '0.0.0.0' || host === '') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}
