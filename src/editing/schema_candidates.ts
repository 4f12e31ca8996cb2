import { LISTS, READY_PROPERTIES } from '../analysis/ready_properties.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../filters/table.ts';
import { NAMED_GATES } from '../project_files/property_file.ts';
import { type EditedText, type Place, entryOf, wordOf } from './edited_text.ts';
import { type NameKind, namedKey, referredKind } from './names.ts';
import { docOfType } from './schema_docs.ts';
import type { SchemaNode } from './schema_places.ts';
import type { Cursor } from './yaml_cursor.ts';

/** A word that can be written at a cursor. */
export interface Candidate {
  readonly text: string;
  readonly kind: 'key' | 'value' | 'name' | 'function' | 'variable';
  readonly doc: string;
  /** How a function is called, or the type of a variable. */
  readonly detail?: string;
}

interface Known {
  readonly nodes: readonly SchemaNode[];
  readonly namesOf: (kind: NameKind) => readonly string[];
}

/** The keys that a map may have, and the names that its keys are. */
export function keysAt(
  edited: EditedText,
  { path, isQuoted }: Cursor,
  place: Place,
  { nodes, namesOf }: Known,
): Candidate[] {
  const keys = new Map<string, string>();
  for (const { properties = {} } of nodes)
    for (const [key, { description = '' }] of Object.entries(properties))
      keys.set(key, keys.get(key) || description);
  for (const key of Object.keys(parametersAt(edited, place) ?? {})) keys.set(key, '');
  const isJson = /^\s*\{/.test(edited.text);
  const written = (key: string): string => (isQuoted ? key : isJson ? `"${key}": ` : `${key}: `);
  const own = Array.from(keys, ([key, doc]): Candidate => ({ text: written(key), kind: 'key', doc }));
  const last = path.at(-1);
  const isScripted = edited.root === 'scenario' && (last === 'upstreams' || last === 'share');
  const kind = isScripted ? 'backend' : namedKey([...path, '']);
  return kind === null ? own : [...own, ...named(kind, namesOf(kind))];
}

/** The parameters of the ready-made property whose `with` a place is in. */
function parametersAt(
  { root, text }: EditedText,
  { path, maps }: Place,
): Readonly<Record<string, string>> | null {
  if ((root !== 'property' && root !== 'edge') || path[0] !== 'properties' || path[2] !== 'with') return null;
  for (const map of maps.toReversed()) {
    const use = wordOf(text, entryOf(text, map, 'use'));
    if (use !== null) return Object.hasOwn(READY_PROPERTIES, use) ? READY_PROPERTIES[use]!.parameters : null;
  }
  return null;
}

/** The values that a place may have, and the names that may be written there. */
export function valuesAt(edited: EditedText, place: Place, { nodes, namesOf }: Known): Candidate[] {
  const values = nodes.flatMap(({ enum: list = [], const: only, type, description = '' }) => {
    const own = only === undefined ? list : [only];
    return (type === 'boolean' ? [true, false] : own).map((value) => [String(value), description] as const);
  });
  const own = Array.from(new Map(values), ([text, doc]): Candidate => {
    const known = place.path.at(-1) === 'type' ? docOfType(edited, place, text) : null;
    return { text, kind: 'value', doc: known ?? doc };
  });
  return [...own, ...reasonsAt(edited, place), ...namedAt(edited, place, namesOf)];
}

function namedAt(edited: EditedText, place: Place, namesOf: Known['namesOf']): Candidate[] {
  const { path } = place;
  const kind =
    (edited.root === 'scenario' ? namedInScenario(path) : null) ??
    namedInProperty(edited, place) ??
    referredKind(path, place.type);
  if (kind === null) return [];
  return kind === 'gate' || kind === 'module' || kind === 'action'
    ? named(kind, BUILT_IN[kind])
    : named(kind, namesOf(kind));
}

type BuiltIn = 'module' | 'action' | 'gate';

/** What can decide, as traces name it; and what a request can have passed. */
const BUILT_IN: Readonly<Record<BuiltIn, readonly string[]>> = {
  module: [...MODULE_FACTS.keys(), ...ACTION_FACTS.keys()],
  action: [...ACTION_FACTS.keys()],
  gate: NAMED_GATES,
};

function namedInScenario(path: readonly string[]): NameKind | BuiltIn | null {
  const [last, above] = [path.at(-1), path.at(-2)];
  if (above === 'because' && (last === 'rule' || last === 'module' || last === 'action')) return last;
  if (last === 'as') return 'identity';
  return last === 'upstream' && above === 'expect' ? 'backend' : null;
}

function namedInProperty(edited: EditedText, place: Place): NameKind | BuiltIn | null {
  const { path } = place;
  if (path[0] !== 'properties') return null;
  if (path[2] === 'never' && path[3] === 'backend') return 'backend';
  if (path[2] === 'never' && path[3] === 'without') return 'gate';
  const kind = path[2] === 'with' ? parametersAt(edited, place)?.[path[3] ?? ''] : undefined;
  if (kind === 'backend') return kind;
  return kind === 'gates' && LISTS.has(kind) ? 'gate' : null;
}

/** The reasons that a step of a trace can have, below `because`. */
function reasonsAt({ root, text }: EditedText, { path, maps }: Place): Candidate[] {
  const last = path.at(-1);
  if (root !== 'scenario' || path.at(-2) !== 'because' || (last !== 'code' && last !== 'reason')) return [];
  const map = maps.at(-1);
  const of =
    map === undefined ? null : wordOf(text, entryOf(text, map, 'module') ?? entryOf(text, map, 'action'));
  const found = REASONS.filter(({ type }) => of === null || type === of);
  return found.map(({ code, doc }) => ({
    text: last === 'code' ? code : code.slice(code.indexOf('.') + 1),
    kind: 'value',
    doc,
  }));
}

const REASONS = [
  ...Array.from(MODULE_FACTS.values(), ({ type, reasons }) =>
    Object.entries(reasons).map(([code, { message }]) => ({ type, code, doc: message })),
  ),
  ...Array.from(ACTION_FACTS.values(), ({ type, reasons }) =>
    Object.entries(reasons).map(([code, doc]) => ({
      type: type as string,
      code: `${type.replaceAll('-', '_')}.${code}`,
      doc,
    })),
  ),
].flat();

export function named(kind: NameKind | BuiltIn, names: readonly string[]): Candidate[] {
  const doc = `a name of ${MEANT[kind]}`;
  return [...new Set(names)].map((text) => ({ text, kind: 'name', doc }));
}

const MEANT: Readonly<Record<NameKind | BuiltIn, string>> = {
  backend: 'backends',
  certificate_authority: 'certificate_authorities',
  ip_policy: 'ip_policies',
  rule: 'a rule',
  vault: 'a vault',
  secret: 'a secret',
  identity: 'identities',
  case: 'a case',
  module: 'a module or an action',
  action: 'an action',
  gate: 'a module or an action, or `login`',
};
