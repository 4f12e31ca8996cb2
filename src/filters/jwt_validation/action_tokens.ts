import { asciiLower, mediaType } from '../../http/ascii.ts';
import type { Activation } from '../../policy/env/activation.ts';
import type { RequestInput } from '../../policy/env/inputs.ts';
import { allValues, onlyValue } from '../../http/fields.ts';
import { isFormTooLong } from '../../http/message_limits.ts';
import { parseJsonObject } from '../../http/json_object.ts';
import type { Compiling } from '../action.ts';
import type { Template } from '../evaluators.ts';
import { Failure } from '../failure.ts';
import type { JwtValidationConfig } from './action_schema.ts';

type Written = JwtValidationConfig['http']['tokens'][number];

/** The place of one token. */
export interface Place {
  readonly type: Written['type'];
  readonly method: Written['method'];
  readonly name: Template;
  readonly prefix: Template;
}

/** Maximum size of a body that is searched for a token. */
export const TOKEN_BODY_LIMIT_BYTES = 2 ** 20;

export function compilePlaces(written: readonly Written[], compiling: Compiling): readonly Place[] {
  return written.map(({ type, method, name, prefix }, index) => ({
    type,
    method,
    name: compiling.template(name, `/http/tokens/${index}/name`),
    prefix: compiling.template(prefix, `/http/tokens/${index}/prefix`),
  }));
}

/** Why a place has no token, with the sentence for the trace. */
export const ABSENCES = {
  missing: 'there is no single token there',
  no_header: 'the request has no such header',
  no_prefix: 'the value does not begin with the prefix',
  method: 'requests of this method have no body with a token',
  content_type: 'the body is neither JSON nor a form',
  bad_json: 'the body is not a JSON object, or has a name twice',
  bad_form: 'the form is not encoded correctly, or too long',
} as const;

export type Absence = keyof typeof ABSENCES;

/** A token without its prefix, or why there is none. */
export interface FoundToken {
  readonly place: Place;
  readonly name: string;
  readonly token: { readonly text: string } | { readonly absent: Absence };
}

/** The string fields of a body by lower-case name, null for a duplicate name; or why there are none. */
export type BodyFields = ReadonlyMap<string, string | null> | Absence;

/** Finds the token of one place; `fields` are those of the body, which are read if a place needs them. */
export function findToken(place: Place, activation: Activation, fields: BodyFields): FoundToken | Failure {
  const name = place.name.text(activation);
  if (name instanceof Failure) return name;
  const prefix = place.prefix.text(activation);
  if (prefix instanceof Failure) return prefix;
  const lower = asciiLower(name.trim());
  const found =
    place.method === 'header' ? headerValue(activation.request, lower) : fieldValue(fields, lower);
  const token = 'absent' in found ? found : withoutPrefix(found.text.trim(), prefix);
  return { place, name: lower, token };
}

/** If a header occurs twice, it is ambiguous which counts, so neither does. */
function headerValue({ headers }: RequestInput, lower: string): FoundToken['token'] {
  const values = allValues(headers, lower);
  if (values.length === 1) return { text: values[0]! };
  return { absent: values.length === 0 ? 'no_header' : 'missing' };
}

function fieldValue(fields: BodyFields, lower: string): FoundToken['token'] {
  if (typeof fields === 'string') return { absent: fields };
  const text = fields.get(lower) ?? null;
  return text === null ? { absent: 'missing' } : { text };
}

/** The text after the prefix, which is matched case-insensitively like schemes (RFC 9110 §11.1). */
function withoutPrefix(value: string, prefix: string): FoundToken['token'] {
  if (asciiLower(value.slice(0, prefix.length)) !== asciiLower(prefix)) return { absent: 'no_prefix' };
  const text = value.slice(prefix.length).trim();
  return text === '' ? { absent: 'missing' } : { text };
}

/** Why the body of a request cannot have a token, before it is read; null if it may: a method and a media type that carry data. */
export function withoutTokenBody({
  method,
  headers,
}: Pick<RequestInput, 'method' | 'headers'>): Absence | null {
  if (!/^(?:POST|PUT|PATCH)$/.test(method)) return 'method';
  return formOf(headers) === null ? 'content_type' : null;
}

function formOf(headers: RequestInput['headers']): 'json' | 'form' | null {
  // Of several types an upstream may use another one, and so another field.
  const type = mediaType(onlyValue(headers, 'content-type') ?? '');
  if (type === 'application/json' || type.endsWith('+json')) return 'json';
  return type === 'application/x-www-form-urlencoded' ? 'form' : null;
}

/** The fields of a body that has the media type of JSON or of a form. */
export function bodyFields(headers: RequestInput['headers'], body: Uint8Array): BodyFields {
  const isJson = formOf(headers) === 'json';
  if (!isJson && isFormTooLong(body)) return 'bad_form';
  const entries = isJson ? jsonEntries(body) : formEntries(Buffer.from(body).toString('utf8'));
  if (typeof entries === 'string') return entries;
  const fields = new Map<string, string | null>();
  for (const [name, value] of entries) {
    const lower = asciiLower(name);
    if (typeof value === 'string') fields.set(lower, fields.has(lower) ? null : value);
  }
  return fields;
}

type Entries = Iterable<readonly [string, unknown]> | Absence;

function jsonEntries(body: Uint8Array): Entries {
  const object = parseJsonObject(body);
  return object === null ? 'bad_json' : Object.entries(object);
}

/**
 * The pairs of a form, and those that other servers read in it: Rack 2 also separates pairs at `;`, PHP cuts names at NUL and
 * their spaces. A name that occurs twice in any way is ambiguous.
 */
function formEntries(text: string): Entries {
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return 'bad_form';
  const pairs = [...new URLSearchParams(text)].map(([name, value]) => [phpName(name), value] as const);
  if (!text.includes(';')) return pairs;
  const others = text.split('&').filter((pair) => pair.includes(';'));
  const loose = others.join('&').replaceAll(';', '&');
  return isFormTooLong(Buffer.from(loose)) ? 'bad_form' : [...pairs, ...new URLSearchParams(loose)];
}

function phpName(name: string): string {
  return name.split('\0', 1)[0]!.trim();
}
