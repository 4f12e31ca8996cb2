import type { AccessRead } from './access_record.ts';

/** Access logs with a line of text for each request: nginx's `combined`, and those of AWS load balancers. */

const QUOTED = String.raw`"((?:[^"\\]|\\.)*)"`;
const COMBINED = new RegExp(
  String.raw`^(?:(\S+) )?(\S+) \S+ (?:\S+|\S.*?) \[([^\]]+)\] ${QUOTED} (\d{3}) (?:\d+|-)(?: ${QUOTED} ${QUOTED})?`,
);
const REQUEST = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) (\S+)(?: (HTTP\/\d(?:\.\d)?))?$/;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const LOCAL_TIME = /^(\d{2})\/([A-Z][a-z]{2})\/(\d{4}):(\d{2}:\d{2}:\d{2}) ([+-]\d{2})(\d{2})$/;

/** Milliseconds since the epoch of `10/Oct/2026:13:55:36 +0200`; NaN if it is not such a time. */
export function localTimeMs(text: string): number {
  const [, day, month, year, time, hours, minutes] = LOCAL_TIME.exec(text) ?? [];
  const at = MONTHS.indexOf(month ?? '') + 1;
  if (day === undefined || at === 0) return Number.NaN;
  return Date.parse(`${year}-${String(at).padStart(2, '0')}-${day}T${time}${hours}:${minutes}`);
}

/** The parts of `GET /a?b HTTP/1.1`; null if it is not a request line. */
export function requestLineOf(
  text: string,
): { readonly method: string; readonly target: string; readonly protocol?: string } | null {
  const [, method, target, protocol] = REQUEST.exec(text) ?? [];
  if (method === undefined || target === undefined) return null;
  return protocol === undefined ? { method, target } : { method, target, protocol };
}

/** What nginx writes with `\x22` and the like. */
function unescaped(text: string): string {
  return text.replaceAll(/\\x([0-9A-Fa-f]{2})|\\(.)/g, (_, hex: string | undefined, other: string) =>
    hex === undefined ? other : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** A line of nginx's `combined` or `common` format, with the host before it or without; null for other lines. */
export function readCombined(text: string): AccessRead | null {
  const [, host, clientIp, time, request, status, referer, agent] = COMBINED.exec(text) ?? [];
  if (clientIp === undefined || request === undefined) return null;
  const asked = requestLineOf(unescaped(request));
  if (asked === null) return { problem: 'the request line is not HTTP' };
  const headers = [
    ['referer', referer],
    ['user-agent', agent],
  ].flatMap(([name, value]) =>
    value === undefined || value === '-' ? [] : [[name!, unescaped(value)] as const],
  );
  return {
    ...asked,
    clientIp,
    atMs: localTimeMs(time!),
    status: Number(status),
    headers,
    ...(host !== undefined && { host }),
  };
}

const BALANCED = new RegExp(
  String.raw`^(https?|h2|grpcs|wss?) (\d{4}-\S+Z) \S+ (\S+):(\d+) \S+ \S+ \S+ \S+ (\d{3}|-) \S+ \d+ \d+ ${QUOTED} ${QUOTED} (\S+) (\S+)`,
);

/** A line of an application load balancer of AWS; null for other lines. */
export function readLoadBalancer(text: string): AccessRead | null {
  const found = BALANCED.exec(text);
  if (found === null) return null;
  const [, , time, ip, port, status, request, agent, cipher, version] = found;
  const asked = requestLineOf(request!);
  const parts = /^(https?|wss?):\/\/([^/?#]*)(.*)$/.exec(asked?.target ?? '');
  if (asked === null || parts === null) return { problem: 'the request line is not HTTP' };
  const [, scheme, authority, rest] = parts;
  const host = authority!.replace(/:(?:80|443)$/, '');
  return {
    ...asked,
    target: rest!.startsWith('/') ? rest! : `/${rest!}`,
    host,
    scheme: scheme!.endsWith('s') ? 'https' : 'http',
    clientIp: ip!.replace(/^\[|\]$/g, ''),
    clientPort: Number(port),
    atMs: Date.parse(time!),
    status: Number(status) || 0,
    headers: agent === '-' ? [] : [['user-agent', agent!]],
    ...(version !== '-' && { tlsVersion: version! }),
    ...(cipher !== '-' && { cipherSuite: cipher! }),
  };
}
