import { declaredLength } from './fields.ts';
import { allValues, type FieldList, firstValue, hasField, listMembers } from '../http/fields.ts';
import { isHopByHop } from '../http/forwarding.ts';
import { isMethod } from '../http/methods.ts';
import type { RawHead, RefusalCode, Refused } from '../engine/drivers/exchange_port.ts';

/** An HTTP/2 request head converted to HTTP/1.1 terms, which the engine uses. */
export interface Http2Head {
  readonly head: RawHead;
  readonly lengthBytes: number | null;
  readonly expectsContinue: boolean;
  readonly takesTrailers: boolean;
  /** It requests another protocol on its stream (RFC 8441). */
  readonly isTunnel: boolean;
}

export type Http2Refusal = Omit<Refused, 'connection'>;

export interface HeadLimits {
  /** Bytes of names and values, plus 32 for each line (RFC 9113 §6.5.2). */
  readonly headBytes: number;
  readonly fields: number;
  readonly targetBytes: number;
}

const VISIBLE_ONLY = /^[!-~]*$/;

/**
 * Reads a head. nghttp2 has already reset streams with upper-case names, connection fields, or missing or
 * duplicate pseudo-headers; what it accepts but two parsers could read differently is refused here. `key`
 * replaces the `Sec-WebSocket-Key`, which HTTP/2 does not have.
 */
export function readHttp2Head(
  raw: FieldList,
  scheme: 'http' | 'https',
  hasEnded: boolean,
  limits: HeadLimits,
  key: () => string,
): Http2Head | Http2Refusal {
  const pseudo: Record<string, string> = {};
  const headers: string[] = [];
  const cookies: string[] = [];
  let bytes = 0;
  let connectionField = '';
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]!;
    const value = raw[at + 1]!;
    bytes += name.length + value.length + 32;
    if (name.startsWith(':')) pseudo[name] = value;
    else if (name === 'cookie') cookies.push(value);
    else {
      if (name !== 'te' && name !== 'trailer' && isHopByHop(name) && !name.startsWith('proxy-auth'))
        connectionField = name;
      headers.push(name, value);
    }
  }
  // RFC 9113 §8.2.3: cookie crumbs are joined for recipients of other HTTP versions.
  if (cookies.length > 0) headers.push('cookie', cookies.join('; '));
  const { ':method': method = '', ':path': target = '', ':authority': authority } = pseudo;
  const host = firstValue(headers, 'host');
  if (host === undefined && authority !== undefined) headers.unshift('host', authority);
  const head = { method, target, version: '2.0', scheme, headers } as const;
  const refuse = (detail: string, code: RefusalCode = 'malformed'): Http2Refusal => ({ code, detail, head });
  if (target.length > limits.targetBytes)
    return refuse('the request target is longer than the limit', 'target_too_long');
  if (bytes > limits.headBytes || raw.length / 2 > limits.fields)
    return refuse('the request head is longer than the limit', 'head_too_large');
  // The same list of methods, in the same letter case, as for HTTP/1.1.
  if (!isMethod(method)) return refuse('the method is not supported', 'method');
  if (!VISIBLE_ONLY.test(target)) return refuse(':path has a character that must be percent-encoded');
  // A Host that differs is refused, and so is a second one, even with the same value.
  if (allValues(headers, 'host').length > 1) return refuse('there is more than one Host field');
  // RFC 9113 §8.2.2
  if (connectionField !== '') return refuse(`${connectionField} is not allowed in HTTP/2`);
  if (hasField(headers, 'te') && !listMembers(headers, 'te').every((each) => each === 'trailers'))
    return refuse('te has a value other than trailers');
  // RFC 9113 §8.3.1: Host must be the same.
  if (host !== undefined && authority !== undefined && host.toLowerCase() !== authority.toLowerCase())
    return refuse('Host differs from :authority');
  const protocol = pseudo[':protocol'];
  const isConnect = method === 'CONNECT' && protocol === undefined;
  if (!isConnect && pseudo[':scheme'] !== scheme) return refuse(`:scheme is not ${scheme}`);
  // The asterisk form is about the server as a whole; one place refuses it for all versions (RFC 9113 §8.3.1).
  if (!isConnect && !target.startsWith('/') && target !== '*') return refuse(':path is not an absolute path');
  const expected = allValues(headers, 'expect');
  const expects = expected.length === 0 ? undefined : expected.join(',');
  if (expects !== undefined && expects.toLowerCase() !== '100-continue')
    return refuse('the expectation is not supported', 'expectation');
  if (protocol !== undefined) return tunnelHead({ ...head, headers }, protocol, key, refuse);
  return {
    head,
    lengthBytes: hasEnded ? 0 : declaredLength(firstValue(headers, 'content-length')),
    expectsContinue: expects !== undefined && !hasEnded,
    takesTrailers: listMembers(headers, 'te').includes('trailers'),
    isTunnel: false,
  };
}

/** RFC 8441 §5: an extended CONNECT is the upgrade of HTTP/2. */
function tunnelHead(
  head: RawHead,
  protocol: string,
  key: () => string,
  refuse: (detail: string, code?: RefusalCode) => Http2Refusal,
): Http2Head | Http2Refusal {
  if (head.method !== 'CONNECT') return refuse(':protocol is only allowed with CONNECT');
  if (protocol.toLowerCase() !== 'websocket')
    return refuse('the protocol is not supported', 'transfer_coding');
  const headers = [...head.headers, 'connection', 'upgrade', 'upgrade', 'websocket'];
  if (!hasField(headers, 'sec-websocket-key')) headers.push('sec-websocket-key', key());
  return {
    head: { ...head, method: 'GET', headers },
    lengthBytes: 0,
    expectsContinue: false,
    takesTrailers: false,
    isTunnel: true,
  };
}
