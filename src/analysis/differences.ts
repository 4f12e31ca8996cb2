import type { UpstreamRequest } from '../engine/questions.ts';
import type { FieldList } from '../http/fields.ts';
import { canonical } from './model.ts';
import type { Looks, Observed } from './witness.ts';

/** What differs between two results of a request, each as a sentence. */
export function differencesOf(before: Observed, after: Observed): readonly string[] {
  const [one, other] = [before.looks, after.looks];
  const status = changed('status', before.status, after.status);
  // Another status comes with other fields and another body.
  if (status.length > 0) return [...status, ...upstreamChanges(one, other)];
  const found = [
    ...fieldChanges('response header', fieldsOf(one), fieldsOf(other)),
    ...(same(one.body, other.body) ? [] : ['the body of the response']),
    ...changed('compression', one.compress ?? 'none', other.compress ?? 'none'),
    ...(same(one.logs, other.logs) ? [] : ['what is logged']),
    ...(same(one.converts, other.converts) ? [] : ['how the connection is converted']),
    ...upstreamChanges(one, other),
  ];
  return found.length > 0 ? found : ['the exchange'];
}

function fieldsOf({ response }: Looks): FieldList {
  return response?.headers ?? [];
}

function upstreamChanges({ forwarded: before }: Looks, { forwarded: after }: Looks): readonly string[] {
  if (before.length !== after.length) return changed('requests to upstreams', before.length, after.length);
  return before.flatMap((request, at) => upstreamChange(request, after[at]!));
}

function upstreamChange(before: UpstreamRequest, after: UpstreamRequest): readonly string[] {
  const found = [
    ...changed('backend', placeOf(before), placeOf(after)),
    ...changed('method to the upstream', before.method, after.method),
    ...changed('target to the upstream', before.target, after.target),
    ...fieldChanges('header to the upstream', before.headers, after.headers),
    ...(same(before.body, after.body) ? [] : ['the body to the upstream']),
  ];
  if (found.length > 0 || same(before, after)) return found;
  return ['how the upstream is reached'];
}

function placeOf({ endpoint: { id, host, port, tls } }: UpstreamRequest): string {
  return `${id} (${tls ? 'tls ' : ''}${host}:${port})`;
}

function fieldChanges(label: string, before: FieldList, after: FieldList): readonly string[] {
  const [one, other] = [byName(before), byName(after)];
  const names = [...new Set([...one.keys(), ...other.keys()])].sort();
  return names.flatMap((name) => changed(`${label} ${name}`, one.get(name), other.get(name)));
}

function byName(fields: FieldList): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at]!.toLowerCase();
    const known = values.get(name);
    values.set(name, known === undefined ? fields[at + 1]! : `${known}, ${fields[at + 1]!}`);
  }
  return values;
}

type Shown = string | number | undefined;

function changed(label: string, before: Shown, after: Shown): readonly string[] {
  return before === after ? [] : [`${label}: ${shown(before)} → ${shown(after)}`];
}

const SHOWN_UNITS = 80;

function shown(value: Shown): string {
  if (value === undefined) return 'absent';
  const text = String(value);
  return text.length > SHOWN_UNITS ? `${text.slice(0, SHOWN_UNITS)}…` : text;
}

function same(one: unknown, other: unknown): boolean {
  return canonical(one) === canonical(other);
}
