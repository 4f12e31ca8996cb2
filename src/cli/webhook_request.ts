import { type FieldList, firstValue } from '../http/fields.ts';
import type { WebhookRequest } from '../webhooks/reading.ts';

/** Header lines, `Name: value`. */
export function headerLines(fields: FieldList): string {
  const lines: string[] = [];
  for (let at = 0; at < fields.length; at += 2) lines.push(`${fields[at]!}: ${fields[at + 1]!}`);
  return lines.join('\n');
}

/** A curl command that sends the request with its exact body; quoted for a POSIX shell. */
export function curlOf(request: WebhookRequest): string {
  const { method, url, headers, body } = request;
  const parts = ['curl', '-X', method, quoted(url)];
  for (let at = 0; at < headers.length; at += 2)
    parts.push('-H', quoted(`${headers[at]!}: ${headers[at + 1]!}`));
  const text = Buffer.from(body).toString('utf8');
  if (body.length === 0) return parts.join(' ');
  // Bytes that are not UTF-8, and NUL, cannot be part of a command line, so they are piped in.
  const survives = Buffer.from(text, 'utf8').equals(body) && !text.includes('\0');
  if (survives) return [...parts, '--data-raw', quoted(text)].join(' ');
  const base64 = Buffer.from(body).toString('base64');
  return `echo ${base64} | base64 -d | ${[...parts, '--data-binary', '@-'].join(' ')}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Parses a request from text: request line, headers, an empty line, and the body as is. Lines of the head may
 * end in CRLF or LF. `url` is the full URL if the head does not contain it; null when the text is not a
 * request.
 */
export function parseHttpRequest(bytes: Buffer, url: string | undefined): WebhookRequest | null {
  const text = bytes.toString('latin1');
  const gap = /\r?\n\r?\n/.exec(text);
  const head = gap === null ? text : text.slice(0, gap.index);
  const body = gap === null ? Buffer.alloc(0) : bytes.subarray(gap.index + gap[0].length);
  const [first, ...lines] = head.split(/\r?\n/);
  const request = /^([A-Z]+) (\S+)(?: HTTP\/\d(?:\.\d)?)?$/.exec(first ?? '');
  if (request === null) return null;
  const headers: string[] = [];
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon < 1) return null;
    headers.push(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const target = request[2]!;
  const whole = target.startsWith('/')
    ? `https://${firstValue(headers, 'host') ?? 'localhost'}${target}`
    : target;
  return { method: request[1]!, url: url ?? whole, headers, body };
}
