import { asciiLower, mediaType } from '../../http/ascii.ts';
import type { Activation } from '../../policy/env/activation.ts';
import type { RequestInput } from '../../policy/env/inputs.ts';
import { allValues, firstValue } from '../../http/fields.ts';
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

/** A token without its prefix; the text is null if it is missing. */
export interface FoundToken {
  readonly place: Place;
  readonly name: string;
  readonly text: string | null;
}

/** Finds the token of one place; `fields` are those of the body, which are read if a place needs them. */
export function findToken(
  place: Place,
  activation: Activation,
  fields: ReadonlyMap<string, string | null>,
): FoundToken | Failure {
  const name = place.name.text(activation);
  if (name instanceof Failure) return name;
  const prefix = place.prefix.text(activation);
  if (prefix instanceof Failure) return prefix;
  const lower = asciiLower(name.trim());
  const value =
    place.method === 'header' ? onlyValue(activation.request, lower) : (fields.get(lower) ?? null);
  return { place, name: lower, text: value === null ? null : withoutPrefix(value.trim(), prefix) };
}

/** If a header occurs twice, it is ambiguous which counts, so neither does. */
function onlyValue({ headers }: RequestInput, lower: string): string | null {
  const values = allValues(headers, lower);
  return values.length === 1 ? values[0]! : null;
}

/** The text after the prefix, which is matched case-insensitively like schemes (RFC 9110 §11.1). */
function withoutPrefix(value: string, prefix: string): string | null {
  if (asciiLower(value.slice(0, prefix.length)) !== asciiLower(prefix)) return null;
  const rest = value.slice(prefix.length).trim();
  return rest === '' ? null : rest;
}

/** Whether the request can have a token in its body: methods and media types that carry data. */
export function hasTokenBody({ method, headers }: RequestInput): boolean {
  return /^(?:POST|PUT|PATCH)$/.test(method) && formOf(headers) !== null;
}

function formOf(headers: RequestInput['headers']): 'json' | 'form' | null {
  const type = mediaType(firstValue(headers, 'content-type') ?? '');
  if (type === 'application/json' || type.endsWith('+json')) return 'json';
  return type === 'application/x-www-form-urlencoded' ? 'form' : null;
}

/** The string fields of a body by lower-case name; null for a duplicate name. Other bodies have no fields. */
export function bodyFields(
  headers: RequestInput['headers'],
  body: Uint8Array,
): ReadonlyMap<string, string | null> {
  const fields = new Map<string, string | null>();
  const text = Buffer.from(body).toString('utf8');
  const entries = formOf(headers) === 'json' ? jsonEntries(text) : new URLSearchParams(text).entries();
  for (const [name, value] of entries) {
    const lower = asciiLower(name);
    if (typeof value === 'string') fields.set(lower, fields.has(lower) ? null : value);
  }
  return fields;
}

function jsonEntries(text: string): readonly (readonly [string, unknown])[] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
  } catch {
    return [];
  }
}
