import { REDACTED } from '../http/secrets.ts';
import { formDecode } from '../policy/env/percent.ts';
import type { RecordedBody } from './recording.ts';
import {
  type Places,
  isSecretName,
  jsonWithoutSecrets,
  redactParameters,
  textWithoutSecrets,
} from './redact_text.ts';
import type { Rules } from './redaction.ts';

/** Redacts a body, complete or truncated, whatever its type: members of JSON, and fields of forms. */
export function redactBody(body: RecordedBody, rules: Rules, at: string, places: Places): RecordedBody {
  const { text, base64 } = body;
  if (text !== undefined) {
    const out = redactText(text, rules, at, places);
    return out === text ? body : { ...body, text: out, redacted: true };
  }
  if (base64 === undefined) return body;
  // One byte that is not UTF-8 does not make the rest unreadable. Each byte is a character here.
  const bytes = Buffer.from(base64, 'base64').toString('latin1');
  const secrets = rules.secrets.map((secret) => Buffer.from(secret).toString('latin1'));
  const out = redactText(bytes, { ...rules, secrets }, at, places);
  if (out === bytes) return body;
  return { ...body, base64: Buffer.from(out, 'latin1').toString('base64'), redacted: true };
}

function redactText(text: string, rules: Rules, at: string, places: Places): string {
  const named = redactParts(redactMembers(text, rules, at, places), rules, at, places);
  const isForm = !/^\s*(?:[{["<]|--)/.test(text);
  const out = isForm ? redactForm(named, rules, at, places) : named;
  // As written, and in strings of JSON. Without the mark of the body a replay would take it for what was sent.
  const clear = textWithoutSecrets(
    jsonWithoutSecrets(out, rules.secrets, rules.mark),
    rules.secrets,
    rules.mark,
  );
  if (clear !== out) places.add('a secret of the configuration');
  return clear;
}

/** A value goes up to the next `&`, so that a line break or a space does not end it. */
function redactForm(text: string, rules: Rules, at: string, places: Places): string {
  const pairs = text.split('&').map((pair) => {
    const equals = pair.indexOf('=');
    const name = pair.slice(0, Math.max(0, equals));
    if (!isSecretName(name, rules.names)) return redactParameters(pair, rules, at, places);
    places.add(`${at}?${formDecode(name)}`);
    return `${name}=${rules.markParameter(pair.slice(equals + 1))}`;
  });
  return pairs.join('&');
}

/** In `multipart/form-data`, a part begins with fields, one of which has its name (RFC 7578 §4.2). */
const DISPOSITION = /^content-disposition:(.*)$/gim;
const PART_NAME = /[;\s]name="([^"]*)"/i;
const EMPTY_LINE = /\r?\n\r?\n/g;

function redactParts(text: string, rules: Rules, at: string, places: Places): string {
  let out = '';
  let copied = 0;
  DISPOSITION.lastIndex = 0;
  for (let found = DISPOSITION.exec(text); found !== null; found = DISPOSITION.exec(text)) {
    const name = PART_NAME.exec(found[1]!)?.[1] ?? '';
    if (!isSecretName(name, rules.names)) continue;
    EMPTY_LINE.lastIndex = DISPOSITION.lastIndex;
    if (EMPTY_LINE.exec(text) === null) break;
    const from = EMPTY_LINE.lastIndex;
    const boundary = text.indexOf('\n--', from);
    places.add(`${at}?${name}`);
    out += text.slice(copied, from) + REDACTED;
    copied = boundary < 0 ? text.length : text[boundary - 1] === '\r' ? boundary - 1 : boundary;
    DISPOSITION.lastIndex = copied;
  }
  return out + text.slice(copied);
}

/** Each match ends at the next quote, so that a body of quotes and backslashes takes linear time, too. */
const MEMBER = /"([^"\\]*(?:\\u[0-9a-f]{4}[^"\\]*)*)"\s*:\s*/gi;

function redactMembers(text: string, rules: Rules, at: string, places: Places): string {
  let out = '';
  let copied = 0;
  MEMBER.lastIndex = 0;
  for (let found = MEMBER.exec(text); found !== null; found = MEMBER.exec(text)) {
    const name = unescaped(found[1]!);
    if (!isSecretName(name, rules.names)) continue;
    places.add(`${at}.${name}`);
    const from = MEMBER.lastIndex;
    out += `${text.slice(copied, from)}"${REDACTED}"`;
    copied = valueEnd(text, from);
    MEMBER.lastIndex = copied;
  }
  return out + text.slice(copied);
}

function unescaped(name: string): string {
  if (!name.includes('\\')) return name;
  return name.replaceAll(/\\u([0-9a-f]{4})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

const STRING = /"[^"\\]*(?:\\[^][^"\\]*)*(?:"|\\?$)/y;

/** Where a JSON value ends: all of a list or an object, or the end of a text that was truncated within it. */
function valueEnd(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const character = text[at]!;
    if (character === '"') {
      STRING.lastIndex = at;
      if (!STRING.test(text)) return text.length;
      if (depth === 0) return STRING.lastIndex;
      at = STRING.lastIndex - 1;
    } else if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') {
      depth--;
      if (depth <= 0) return depth < 0 ? at : at + 1;
    } else if (character === ',' && depth === 0) return at;
  }
  return text.length;
}
