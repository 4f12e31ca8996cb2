import { type FieldList, isFieldName } from '../http/fields.ts';
import { fieldWriter } from '../http/field_writer.ts';
import { isMethod } from '../http/methods.ts';

const written = fieldWriter({ before: (name) => `\r\n${name}: `, value: (value) => value });

/** What `fieldLines` has seen. */
export const seen = { hosts: 0, hasDate: false };

/** Writes fields as lines, each with CRLF before it and none at the end; null when one of them cannot be written. */
export function fieldLines(fields: FieldList): string | null {
  const { text, hosts, hasDate } = written(fields);
  seen.hosts = hosts;
  seen.hasDate = hasDate;
  return text;
}

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
