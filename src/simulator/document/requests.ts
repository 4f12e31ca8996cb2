import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { meantWord } from '../../diagnostics/meant.ts';
import { quoted } from '../../diagnostics/message_text.ts';
import { parseAddress } from '../../net/address.ts';
import type { Report } from '../../diagnostics/report.ts';
import type { TlsFacts } from '../../engine/connection.ts';
import type { RequestHead } from '../../engine/contract.ts';
import { statedTls } from './tls.ts';
import { mintedToken } from './tokens.ts';
import type { RefusedHead } from '../../engine/request_head.ts';
import { DEFAULT_CLIENT_IP, connectionFor, headOf } from '../../engine/request_like.ts';
import { type FieldList, hasField, isFieldName, isFieldValue, fieldPairs } from '../../http/fields.ts';
import type { PreparedRequest } from '../prepared_request.ts';
import { noNode } from './nodes.ts';
import type { ScenarioCode } from './codes.ts';
import { readCurl } from './curl.ts';
import { durationMs } from './durations.ts';
import { readRawRequest } from './raw_request.ts';
import type { RequestConfig } from './schema.ts';

/** Signs a request as a webhook provider does; loaded only if a file needs it. */
export type Signer = (
  provider: string,
  secret: string,
  request: {
    readonly method: string;
    readonly url: string;
    readonly headers: FieldList;
    readonly body: Uint8Array;
  },
  nowMs: number,
) =>
  | { readonly headers: FieldList; readonly body: Uint8Array }
  | { readonly problem: string; readonly part: 'provider' | 'secret' };

export interface RequestSetting {
  readonly defaults: RequestConfig;
  /** Host for requests without one. */
  readonly host: string;
  /** Facts of handshakes that the case states. */
  readonly tls: Partial<TlsFacts>;
  readonly startMs: number;
  readonly signer: Signer | null;
  /** Number of nodes; default one. */
  readonly nodes?: number;
  readonly report: Report<ScenarioCode>;
}

const NO_BYTES = new Uint8Array(0);
const SHORT = /^(?:([A-Z][A-Z-]*)\s+)?(\S+)$/;

/** Prepares a request; null if it is invalid, which has been reported. */
export function prepareRequest(
  given: string | RequestConfig,
  pointer: string,
  setting: RequestSetting,
): PreparedRequest | null {
  const config = typeof given === 'string' ? shortRequest(given) : given;
  if (config === null) {
    const [, method, target] = /^([a-z]+)\s+(\S+)$/i.exec((given as string).trim()) ?? [];
    const meant = method === undefined ? undefined : `${method.toUpperCase()} ${target}`;
    const message = `${quoted(given as string)} is not a request such as 'GET /path'`;
    setting.report('scenario.bad_request', pointer, message, meantWord(meant));
    return null;
  }
  return prepared(config, pointer, setting);
}

/** `GET /path`, `GET https://shop.test/path` or only a target. */
function shortRequest(text: string): RequestConfig | null {
  const parts = SHORT.exec(text.trim());
  if (parts === null) return null;
  return { url: parts[2]!, ...(parts[1] !== undefined && { method: parts[1] }) };
}

function prepared(config: RequestConfig, pointer: string, setting: RequestSetting): PreparedRequest | null {
  const { defaults } = setting;
  const merged: RequestConfig = { ...defaults, ...config };
  const url = urlOf(config, setting);
  const fields = fieldsOf({ ...defaults.headers, ...config.headers }, pointer, setting);
  if (fields === null) return null;
  let body: Uint8Array = bodyOf(merged);
  let headers: FieldList = withBodyFields(fields, merged, body);
  const method = merged.method ?? (body.length > 0 ? 'POST' : 'GET');
  if (merged.jwt !== undefined) {
    const { header = 'authorization', prefix = 'Bearer ' } = merged.jwt;
    headers = [...headers, header.toLowerCase(), `${prefix}${mintedToken(merged.jwt, setting.startMs)}`];
  }
  if (merged.sign !== undefined) {
    if (setting.signer === null) throw new Error('the request needs a signer, but none was loaded');
    const { provider, secret, ago, tamper } = merged.sign;
    const atMs = setting.startMs - (ago === undefined ? 0 : durationMs(ago));
    const signed = setting.signer(provider, secret, { method, url, headers, body }, atMs);
    if ('problem' in signed) return refuse(setting, `${pointer}/sign/${signed.part}`, signed.problem);
    if (tamper === 'signature') headers = tampered(signed.headers, headers);
    else ({ headers } = signed);
    body = tamper === 'body' ? changed(signed.body) : signed.body;
  }
  const ready = withHead(() => headLike(method, url, headers), body, merged, pointer, setting);
  if (ready === null || (merged.sign === undefined && merged.jwt === undefined)) return ready;
  return {
    ...ready,
    signedAt: (nowMs) => prepared(config, pointer, { ...setting, startMs: nowMs }) ?? ready,
  };
}

/** The fields that signing has added, each with another last letter or digit. */
function tampered(signed: FieldList, plain: FieldList): FieldList {
  return signed.map((text, at) => {
    const isAdded = at % 2 === 1 && !hasField(plain, signed[at - 1]!.toLowerCase());
    return isAdded
      ? text.replace(/[A-Za-z0-9](?=[^A-Za-z0-9]*$)/, (last) => (last === 'a' ? 'b' : 'a'))
      : text;
  });
}

/** A body of the same length, with another last byte. */
function changed(body: Uint8Array): Uint8Array {
  return body.length === 0
    ? body
    : Uint8Array.from(body, (byte, at) => (at === body.length - 1 ? byte ^ 1 : byte));
}

/** A placeholder that is still there was filled by no row. */
function ofPlaceholder(text: string): string {
  const name = /^\{(\w+)\}$/.exec(text)?.[1];
  return name === undefined
    ? '; write it as 203.0.113.9 or 2001:db8::1'
    : `: no row of 'each' has a value '${name}'`;
}

function withHead(
  make: () => RequestHead | RefusedHead,
  body: Uint8Array,
  config: Pick<RequestConfig, 'ip' | 'leaves_after' | 'as' | 'tls' | 'node'>,
  pointer: string,
  setting: RequestSetting,
): PreparedRequest | null {
  const client = config.ip ?? DEFAULT_CLIENT_IP;
  if (parseAddress(client) === null) {
    const at =
      config.ip === setting.defaults.ip && !pointer.startsWith('/defaults') ? '/defaults/request' : pointer;
    return refuse(setting, `${at}/ip`, `${quoted(client)} is not an IP address${ofPlaceholder(client)}`);
  }
  try {
    const head = make();
    const tls = { ...setting.defaults.tls, ...config.tls };
    const stated = statedTls(tls, `${pointer}/tls`, setting.tls, setting.report);
    const facts = { clientIp: client, clientPort: 50_000, ...stated };
    const connection = connectionFor(head, facts);
    const leaveAfterMs = config.leaves_after === undefined ? -1 : durationMs(config.leaves_after);
    const as = config.as === undefined ? {} : { as: config.as };
    const { node } = config;
    if (node !== undefined && node > (setting.nodes ?? 1)) {
      setting.report('scenario.bad_nodes', `${pointer}/node`, noNode(node, setting.nodes ?? 1));
      return null;
    }
    return { head, connection, body, leaveAfterMs, ...as, ...(node !== undefined && { node }) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return refuse(setting, pointer, error.message);
  }
}

/** A request from a curl command line. */
export function prepareCurl(line: string, pointer: string, setting: RequestSetting): PreparedRequest | null {
  const curl = readCurl(line);
  if ('problem' in curl) return refuse(setting, pointer, `this command line cannot be read: ${curl.problem}`);
  const body = curl.body === null ? NO_BYTES : new TextEncoder().encode(curl.body);
  const given = curl.headers.flatMap(([name, value]) => [name, value]);
  const agent = hasField(given, 'user-agent') ? [] : ['user-agent', 'curl/8.0'];
  const accept = hasField(given, 'accept') ? [] : ['accept', '*/*'];
  const length = body.length > 0 ? ['content-length', String(body.length)] : [];
  const headers = [...agent, ...accept, ...given, ...length];
  const { method, url } = curl;
  return withHead(
    () => headOf({ method, url, headers: fieldPairs(headers) }),
    body,
    setting.defaults,
    pointer,
    setting,
  );
}

/** A request from bytes. */
export function prepareRaw(text: string, setting: RequestSetting): PreparedRequest | null {
  const { head, body } = readRawRequest(text, setting.defaults.scheme ?? 'https');
  return withHead(() => head, body, setting.defaults, '', setting);
}

function refuse({ report }: RequestSetting, pointer: string, message: string): null {
  report('scenario.bad_request', pointer, message);
  return null;
}

function urlOf({ url, scheme, host, path }: RequestConfig, { defaults, ...setting }: RequestSetting): string {
  if (url?.includes('://') === true) return url;
  const authority = host ?? defaults.host ?? setting.host;
  const target = url ?? path ?? defaults.url ?? defaults.path ?? '/';
  if (target.includes('://')) return target;
  return `${scheme ?? defaults.scheme ?? 'https'}://${authority}${target.startsWith('/') ? '' : '/'}${target}`;
}

function bodyOf({ body, json }: Pick<RequestConfig, 'body' | 'json'>): Uint8Array {
  if (body !== undefined) return new TextEncoder().encode(body);
  return json === undefined ? NO_BYTES : new TextEncoder().encode(JSON.stringify(json));
}

/** Adds content type and length of the body, as a client does. */
function withBodyFields(fields: FieldList, { json, body }: RequestConfig, bytes: Uint8Array): FieldList {
  const isJson = json !== undefined && body === undefined && !hasField(fields, 'content-type');
  const type = isJson ? ['content-type', 'application/json'] : [];
  const isLong =
    bytes.length > 0 && !hasField(fields, 'content-length') && !hasField(fields, 'transfer-encoding');
  return [...fields, ...type, ...(isLong ? ['content-length', String(bytes.length)] : [])];
}

type Headers = NonNullable<RequestConfig['headers']>;

function fieldsOf(headers: Headers, pointer: string, setting: RequestSetting): string[] | null {
  const fields: string[] = [];
  for (const [name, given] of Object.entries(headers)) {
    for (const value of Array.isArray(given) ? given : [given]) {
      const text = String(value);
      if (!isFieldName(name) || !isFieldValue(text)) {
        return refuse(setting, pointerTo(`${pointer}/headers`, name), `'${name}: ${text}' is not a header`);
      }
      fields.push(name.toLowerCase(), text);
    }
  }
  return fields;
}

function headLike(method: string, url: string, headers: FieldList) {
  return headOf(headers.length === 0 ? { method, url } : { method, url, headers: fieldPairs(headers) });
}
