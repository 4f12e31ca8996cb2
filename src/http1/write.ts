import { memoizeRecurring } from '../caches/recurring.ts';
import { type FieldList, isFieldName, isFieldValue } from '../http/fields.ts';
import { isFraming, isHopByHop } from '../http/forwarding.ts';
import { isMethod } from '../http/methods.ts';

/** How a field name is written. */
interface Outgoing {
  /** `\r\nName: `; empty if the caller may not set the field. */
  readonly label: string;
  readonly isHost: boolean;
  readonly isDate: boolean;
  /** The last value that passed the check: values often repeat. */
  lastValid: string;
}

const CACHED_NAMES = 2_048;
const MAX_KEPT = 512;
const known = new Map<string, Outgoing>();

/** Looks up a name; null for an invalid one. */
function outgoing(name: string): Outgoing | null {
  const before = known.get(name);
  if (before !== undefined) return before;
  if (!isFieldName(name)) return null;
  const lower = name.toLowerCase();
  const dropped = isHopByHop(lower) || isFraming(lower);
  const made: Outgoing = {
    label: dropped ? '' : `\r\n${name}: `,
    isHost: lower === 'host',
    isDate: lower === 'date',
    lastValid: '',
  };
  if (known.size < CACHED_NAMES && name.length <= 64) known.set(name, made);
  return made;
}

/** What `fieldLines` has seen. */
export const seen = { hosts: 0, hasDate: false };

/**
 * Writes fields as lines, each with CRLF before it and none at the end. Framing and hop-by-hop fields are
 * left out: only the writer of the message sets them. Null when a field cannot be written as one line.
 */
export function fieldLines(fields: FieldList): string | null {
  const { text, hosts, hasDate } = linesOf(fields);
  seen.hosts = hosts;
  seen.hasDate = hasDate;
  return text;
}

interface Lines {
  readonly text: string | null;
  readonly hosts: number;
  readonly hasDate: boolean;
}

const BROKEN: Lines = { text: null, hosts: 0, hasDate: false };

const linesOf: (fields: FieldList) => Lines = memoizeRecurring((fields) => {
  let text = '';
  let hosts = 0;
  let hasDate = false;
  for (let at = 0; at < fields.length; at += 2) {
    const name = outgoing(fields[at]!);
    if (name === null) return BROKEN;
    if (name.label === '') continue;
    const value = fields[at + 1]!;
    if (value !== name.lastValid) {
      if (!isFieldValue(value)) return BROKEN;
      if (value.length <= MAX_KEPT) name.lastValid = value;
    }
    if (name.isHost) hosts++;
    else if (name.isDate) hasDate = true;
    text += name.label + value;
  }
  return { text, hosts, hasDate };
});

const TARGET = /^[!-~]+$/;

/** Method and target of a request line; null when they contain characters that would end it. */
export function requestLine(method: string, target: string): string | null {
  if (!TARGET.test(target) || (!isMethod(method) && !isFieldName(method))) return null;
  return `${method} ${target} HTTP/1.1`;
}

// table: reason phrases, RFC 9110 §15 and the IANA registry
const REASONS: Readonly<Record<number, string>> = {
  100: 'Continue',
  101: 'Switching Protocols',
  102: 'Processing',
  103: 'Early Hints',
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  203: 'Non-Authoritative Information',
  204: 'No Content',
  205: 'Reset Content',
  206: 'Partial Content',
  207: 'Multi-Status',
  208: 'Already Reported',
  226: 'IM Used',
  300: 'Multiple Choices',
  301: 'Moved Permanently',
  302: 'Found',
  303: 'See Other',
  304: 'Not Modified',
  305: 'Use Proxy',
  307: 'Temporary Redirect',
  308: 'Permanent Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  407: 'Proxy Authentication Required',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  411: 'Length Required',
  412: 'Precondition Failed',
  413: 'Payload Too Large',
  414: 'URI Too Long',
  415: 'Unsupported Media Type',
  416: 'Range Not Satisfiable',
  417: 'Expectation Failed',
  418: "I'm a Teapot",
  421: 'Misdirected Request',
  422: 'Unprocessable Entity',
  423: 'Locked',
  424: 'Failed Dependency',
  425: 'Too Early',
  426: 'Upgrade Required',
  428: 'Precondition Required',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  451: 'Unavailable For Legal Reasons',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
  505: 'HTTP Version Not Supported',
  506: 'Variant Also Negotiates',
  507: 'Insufficient Storage',
  508: 'Loop Detected',
  509: 'Bandwidth Limit Exceeded',
  510: 'Not Extended',
  511: 'Network Authentication Required',
};

/** `HTTP/1.1 200 OK`; the space precedes also an empty reason (RFC 9112 §4). */
export function statusLine(status: number): string {
  return status === 200 ? 'HTTP/1.1 200 OK' : `HTTP/1.1 ${status} ${REASONS[status] ?? ''}`;
}

/** The size line of a chunk (RFC 9112 §7.1). */
export function chunkLine(lengthBytes: number): string {
  return `${lengthBytes.toString(16)}\r\n`;
}

/** The end of chunked content without trailers. */
export const LAST_CHUNK = '0\r\n\r\n';
