import { declaredLength } from './fields.ts';
import { allValues, type FieldList, firstValue, hasField, listMembers } from '../http/fields.ts';
import { isHopByHop } from '../http/forwarding.ts';
import { isMethod } from '../http/methods.ts';
import type { RawHead, RefusalCode } from '../engine/drivers/exchange_port.ts';

/** A request head of HTTP/2 in the words of HTTP/1.1, in which the engine thinks. */
export interface Http2Head {
  readonly head: RawHead;
  readonly lengthBytes: number | null;
  readonly expectsContinue: boolean;
  readonly takesTrailers: boolean;
  /** It asks for another protocol on its stream (RFC 8441). */
  readonly isTunnel: boolean;
}

export interface Http2Refusal {
  readonly status: number;
  readonly code: RefusalCode;
  readonly detail: string;
  readonly head: Partial<RawHead>;
}

export interface HeadLimits {
  /** Names and values together, with 32 bytes for each line (RFC 9113 §6.5.2). */
  readonly headBytes: number;
  readonly fields: number;
  readonly targetBytes: number;
}

const VISIBLE_ONLY = /^[!-~]*$/;

/**
 * Reads a head. What nghttp2 has refused by resetting the stream (upper-case names, fields of a connection, missing or
 * doubled pseudo-headers) does not come here; what it lets pass and two parsers could read differently is refused.
 * `key` stands for the `Sec-WebSocket-Key` that HTTP/2 does without.
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
  // RFC 9113 §8.2.3: crumbs are one field for whoever speaks an older HTTP.
  if (cookies.length > 0) headers.push('cookie', cookies.join('; '));
  const { ':method': method = '', ':path': target = '', ':authority': authority } = pseudo;
  const host = firstValue(headers, 'host');
  if (host === undefined && authority !== undefined) headers.unshift('host', authority);
  const head = { method, target, version: '2.0', scheme, headers } as const;
  const refuse = (detail: string, code: RefusalCode = 'malformed', status = 400): Http2Refusal => ({
    status,
    code,
    detail,
    head,
  });
  if (target.length > limits.targetBytes)
    return refuse('the target is longer than the limit', 'target_too_long', 414);
  if (bytes > limits.headBytes || raw.length / 2 > limits.fields)
    return refuse('the head is longer than the limit', 'head_too_large', 431);
  // The one list, and the one letter case, that HTTP/1.1 is read with.
  if (!isMethod(method)) return refuse('the method is not known here', 'method', 501);
  if (!VISIBLE_ONLY.test(target)) return refuse(':path has a character that must be percent-encoded');
  // A Host that differs is refused, and so is a second one, whatever it says.
  if (allValues(headers, 'host').length > 1) return refuse('there is more than one Host field');
  // RFC 9113 §8.2.2
  if (connectionField !== '') return refuse(`${connectionField} belongs to a connection of HTTP/1.1`);
  if (hasField(headers, 'te') && !listMembers(headers, 'te').every((each) => each === 'trailers'))
    return refuse('te says something else than trailers');
  // RFC 9113 §8.3.1: Host must not say anything else.
  if (host !== undefined && authority !== undefined && host.toLowerCase() !== authority.toLowerCase())
    return refuse('Host differs from :authority');
  const protocol = pseudo[':protocol'];
  const isConnect = method === 'CONNECT' && protocol === undefined;
  if (!isConnect && pseudo[':scheme'] !== scheme) return refuse(`:scheme is not ${scheme}`);
  // The asterisk is about the server as a whole, which is refused in one place for all (RFC 9113 §8.3.1).
  if (!isConnect && !target.startsWith('/') && target !== '*') return refuse(':path is not an absolute path');
  const expected = allValues(headers, 'expect');
  const expects = expected.length === 0 ? undefined : expected.join(',');
  if (expects !== undefined && expects.toLowerCase() !== '100-continue')
    return refuse('only 100-continue can be expected', 'expectation', 417);
  if (protocol !== undefined) return tunnelHead({ ...head, headers }, protocol, key, refuse);
  return {
    head,
    lengthBytes: hasEnded ? 0 : declaredLength(firstValue(headers, 'content-length')),
    expectsContinue: expects !== undefined && !hasEnded,
    takesTrailers: listMembers(headers, 'te').includes('trailers'),
    isTunnel: false,
  };
}

/** RFC 8441 §5: what would be an upgrade in HTTP/1.1. */
function tunnelHead(
  head: RawHead,
  protocol: string,
  key: () => string,
  refuse: (detail: string, code?: RefusalCode, status?: number) => Http2Refusal,
): Http2Head | Http2Refusal {
  if (head.method !== 'CONNECT') return refuse(':protocol belongs to CONNECT');
  if (protocol.toLowerCase() !== 'websocket')
    return refuse('the protocol is not known here', 'transfer_coding', 501);
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
