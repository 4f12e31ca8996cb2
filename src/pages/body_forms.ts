/** What a body is, by its media type and its bytes: values in, values out. */
import type { RecordedBody } from '../replay/recording.ts';
import { indentedJson } from './json_text.ts';
import { protobufText } from './protobuf.ts';

/** A part of a multipart body. */
export interface BodyPart {
  /** `[name, value, …]`. */
  readonly headers: readonly string[];
  readonly name: string;
  readonly fileName: string | null;
  readonly form: BodyForm;
}

export type BodyForm =
  | { readonly form: 'empty' }
  /** Nothing of it was kept. */
  | { readonly form: 'unkept' }
  | { readonly form: 'json' | 'text'; readonly text: string }
  | { readonly form: 'fields'; readonly fields: readonly (readonly [name: string, value: string])[] }
  | { readonly form: 'parts'; readonly parts: readonly BodyPart[] }
  | { readonly form: 'image'; readonly type: string; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly form: 'binary'; readonly bytes: Uint8Array<ArrayBuffer> };

/** Formats that browsers draw and that have no scripts. */
const IMAGE = /^image\/(?:png|jpeg|gif|webp|avif|bmp|x-icon|vnd\.microsoft\.icon)$/;
const PROTOBUF = /^application\/(?:(?:x-|vnd\.google\.)?protobuf|[\w.-]+\+proto(?:buf)?)$/;
const MOST_PARTS = 100;
const MOST_FIELDS = 1000;

const decoder = new TextDecoder();
const strict = new TextDecoder('utf-8', { fatal: true });

/** The bytes that were kept of a body; null if none were. */
export function keptBytes({
  text,
  base64,
}: Pick<RecordedBody, 'text' | 'base64'>): Uint8Array<ArrayBuffer> | null {
  if (text !== undefined) return new TextEncoder().encode(text);
  if (base64 === undefined) return null;
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return null;
  }
}

/** The first value of a field, whatever the case of its name. */
function fieldOf(headers: readonly string[], name: string): string {
  for (let at = 0; at + 1 < headers.length; at += 2)
    if (headers[at]!.toLowerCase() === name) return headers[at + 1]!;
  return '';
}

export function formOf(body: RecordedBody, headers: readonly string[]): BodyForm {
  if (body.bytes === 0) return { form: 'empty' };
  const bytes = keptBytes(body);
  if (bytes === null || bytes.length === 0) return { form: 'unkept' };
  return formOfBytes(bytes, fieldOf(headers, 'content-type'));
}

function formOfBytes(bytes: Uint8Array<ArrayBuffer>, contentType: string): BodyForm {
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase();
  if (IMAGE.test(type)) return { form: 'image', type, bytes };
  const fields = PROTOBUF.test(type) ? protobufText(bytes) : null;
  if (fields !== null) return { form: 'text', text: fields };
  const boundary = type.startsWith('multipart/') ? boundaryOf(contentType) : null;
  if (boundary !== null) return { form: 'parts', parts: partsOf(bytes, boundary) };
  const text = textOf(bytes);
  if (text === null) return { form: 'binary', bytes };
  if (type === 'application/x-www-form-urlencoded') return { form: 'fields', fields: fieldsOf(text) };
  const json = /[/+]json$|^$|^text\/plain$/.test(type) ? indentedJson(text) : null;
  return json === null ? { form: 'text', text } : { form: 'json', text: json };
}

/** A text, although its last character may be cut off; null for other bytes. */
function textOf(bytes: Uint8Array): string | null {
  for (let cut = 0; cut < Math.min(4, bytes.length); cut++) {
    try {
      const text = strict.decode(bytes.subarray(0, bytes.length - cut));
      // oxlint-disable-next-line no-control-regex -- bytes that texts do not have
      return /[\u0000-\u0006\u000e-\u001a]/.test(text.slice(0, 4096)) ? null : text;
    } catch {
      // The next cut may be between two characters.
    }
  }
  return null;
}

function fieldsOf(text: string): [string, string][] {
  return text
    .split('&', MOST_FIELDS)
    .filter((pair) => pair !== '')
    .map((pair) => {
      const at = pair.indexOf('=');
      return at === -1
        ? [unescaped(pair), '']
        : [unescaped(pair.slice(0, at)), unescaped(pair.slice(at + 1))];
    });
}

function unescaped(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}

function boundaryOf(contentType: string): string | null {
  const found = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;]{1,70}))/i.exec(contentType);
  return found?.[1] ?? found?.[2] ?? null;
}

/** The parts of a multipart body (RFC 2046 §5.1); a part whose end is missing ends with the kept bytes. */
function partsOf(bytes: Uint8Array<ArrayBuffer>, boundary: string): BodyPart[] {
  // One character a byte, so that offsets in both are the same.
  const text = latin1(bytes);
  const parts: BodyPart[] = [];
  const delimiter = `--${boundary}`;
  let at = text.indexOf(delimiter);
  while (at !== -1 && parts.length < MOST_PARTS && !text.startsWith('--', at + delimiter.length)) {
    const start = text.indexOf('\r\n', at) + 2;
    if (start === 1) break;
    const next = text.indexOf(`\r\n${delimiter}`, start - 2);
    parts.push(partOf(bytes.slice(start, next === -1 ? bytes.length : Math.max(start, next))));
    at = next === -1 ? -1 : next + 2;
  }
  return parts;
}

function latin1(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += 8192)
    pieces.push(String.fromCharCode(...bytes.subarray(at, at + 8192)));
  return pieces.join('');
}

function partOf(bytes: Uint8Array<ArrayBuffer>): BodyPart {
  const text = latin1(bytes);
  const end = text.startsWith('\r\n') ? 0 : text.indexOf('\r\n\r\n');
  const head = decoder.decode(bytes.subarray(0, Math.max(end, 0)));
  const content = bytes.slice(end === -1 ? bytes.length : end === 0 ? 2 : end + 4);
  const headers = head.split('\r\n').flatMap((line) => {
    const at = line.indexOf(':');
    return at < 1 ? [] : [line.slice(0, at), line.slice(at + 1).trim()];
  });
  const disposition = fieldOf(headers, 'content-disposition');
  return {
    headers,
    name: /[;\s]name="([^"]*)"/i.exec(disposition)?.[1] ?? '',
    fileName: /filename="([^"]*)"/i.exec(disposition)?.[1] ?? null,
    // A multipart inside a multipart is shown as its text.
    form:
      content.length === 0
        ? { form: 'empty' }
        : formOfBytes(content, fieldOf(headers, 'content-type').replace(/^multipart\//i, 'text/')),
  };
}

/** Bytes as a hex dump: offset, 16 bytes, their ASCII. */
export function hexDump(bytes: Uint8Array, most = 4096): string {
  const lines: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, most); at += 16) {
    const row = Array.from(bytes.subarray(at, at + 16));
    const hex = row.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const ascii = row.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : '.')).join('');
    lines.push(`${at.toString(16).padStart(6, '0')}  ${hex.padEnd(47)}  ${ascii}`);
  }
  return lines.join('\n');
}
