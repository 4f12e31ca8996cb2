import { allValues, type FieldList, isFieldName, onlyValue } from '../http/fields.ts';
import { parseAuthority } from '../http/host.ts';
import { FORWARDED_METHODS } from '../http/methods.ts';
import { parseTarget } from '../http/target.ts';
import type { RequestHead } from './contract.ts';
import type { EngineReason } from './refusals.ts';

/** A request head as read from the wire, not interpreted. */
export interface RawHead {
  readonly method: string;
  /** The request target exactly as sent. */
  readonly target: string;
  readonly version: RequestHead['version'];
  readonly scheme: RequestHead['scheme'];
  readonly headers: FieldList;
}

/** Why a head is refused, with the parts that could be read, for its event. */
export interface RefusedHead {
  readonly refused: Extract<EngineReason, `request.${string}`>;
  readonly message: string;
  readonly head: RequestHead;
}

/** Builds the head that the engine works on, with a canonical target; anything ambiguous is refused. */
export function readRequestHead(raw: RawHead): RequestHead | RefusedHead {
  if (!FORWARDED_METHODS.has(raw.method)) return refuseMethod(raw);
  let authority = onlyValue(raw.headers, 'host');
  if (authority === null) return refuse(raw, 'request.malformed', 'there is more than one Host field');
  let target = raw.target;
  const absolute = target.startsWith('/') ? null : /^https?:\/\/([^/?#]*)(.*)$/i.exec(target);
  if (absolute !== null) {
    // RFC 9110 §4.2.1: a URI with an empty host is invalid.
    if (absolute[1] === '') return refuse(raw, 'request.malformed', 'the target has no host');
    // RFC 9112 §3.2.2: the target's authority counts; a different Host is a mistake or an attack.
    if (authority !== undefined && authority.toLowerCase() !== absolute[1]!.toLowerCase()) {
      return refuse(raw, 'request.malformed', 'Host differs from the authority of the target');
    }
    authority = absolute[1]!;
    target = absolute[2]!.startsWith('/') ? absolute[2]! : `/${absolute[2]!}`;
  }
  if (authority === undefined) {
    if (raw.version !== '1.0') return refuse(raw, 'request.malformed', 'there is no Host field');
    authority = '';
  }
  const parsed = authority === '' ? null : parseAuthority(authority);
  if (parsed === null && authority !== '') return refuse(raw, 'request.malformed', 'Host is not a host name');
  const parts = parseTarget(target);
  if ('problem' in parts) return refuse(raw, 'request.malformed', parts.problem);
  return {
    method: raw.method,
    scheme: raw.scheme,
    host: parsed?.host ?? '',
    authority,
    path: parts.path,
    plainPath: parts.isPlain ? parts.path : '',
    query: parts.query,
    sentTarget: target,
    version: raw.version,
    headers: raw.headers,
  };
}

function refuseMethod(raw: RawHead): RefusedHead {
  if (!isFieldName(raw.method)) return refuse(raw, 'request.malformed', 'the method is not a token');
  return refuse(raw, 'request.method', `${raw.method} is not supported by edges`);
}

function refuse(raw: RawHead, refused: RefusedHead['refused'], message: string): RefusedHead {
  return { refused, message, head: partialHead(raw) };
}

/** A head for the event of a request that could not be read. */
export function partialHead(raw: Partial<RawHead>): RequestHead {
  const headers = raw.headers ?? [];
  const authority = allValues(headers, 'host')[0] ?? '';
  const mark = raw.target?.indexOf('?') ?? -1;
  return {
    method: raw.method ?? '',
    scheme: raw.scheme ?? 'http',
    host: parseAuthority(authority)?.host ?? '',
    authority,
    path: mark < 0 ? (raw.target ?? '') : raw.target!.slice(0, mark),
    plainPath: '',
    query: mark < 0 ? undefined : raw.target!.slice(mark + 1),
    sentTarget: raw.target ?? '',
    version: raw.version ?? '1.1',
    headers,
  };
}
