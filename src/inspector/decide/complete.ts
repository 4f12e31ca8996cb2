import { complete as completeExpression } from '../../cel/expression_completion.ts';
import type { Scope } from '../../cel/scope.ts';
import type { Reference } from '../../filters/fact_values.ts';
import { type Phase, PHASES, scopePhase } from '../../filters/phase.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../../filters/table.ts';
import { scopeFor } from '../../policy/env/scopes.ts';
import type { CompleteAnswer, CompleteRequest } from '../wire_editing.ts';
import { type SchemaNode, hasKeysOf, schemasAt } from './schema_places.ts';
import { type Cursor, besideLine, cursorAt } from './yaml_cursor.ts';

type Candidate = CompleteAnswer['candidates'][number];

export interface CompletionSetting {
  /** The text of the edge file as it is now, whose names a policy in its own file may use. */
  readonly edgeText: () => string;
  /** What expressions of the list's filter may read. */
  readonly filterScope: Scope<never>;
}

/** Candidates for the word before the cursor: keys, values, names of backends and others, variables and functions. */
export function completions(
  { name, text, offset }: CompleteRequest,
  { edgeText, filterScope }: CompletionSetting,
): CompleteAnswer {
  if (name === null) return expressionAnswer(text.slice(0, offset), offset, filterScope);
  const isEdge = hasKeysOf('edge', text) || !hasKeysOf('policy', text);
  const cursor = cursorAt(text, offset);
  const typeOf = (): string | null => besideLine(text, cursor.line, 'type');
  const nodes = schemasAt(isEdge ? 'edge' : 'policy', cursor.path, typeOf);
  const expression = expressionBefore(cursor, nodes);
  if (expression !== null) return expressionAnswer(expression, offset, scopeFor(placeOf(cursor.path)));
  const names = namesIn(isEdge ? text : edgeText());
  const candidates = [
    ...(cursor.wants === 'value' ? [] : [...keysOf(nodes), ...namesOf(namedKeys(cursor.path), names)]),
    ...(cursor.wants === 'key' ? [] : [...valuesOf(nodes), ...namesOf(referred(cursor.path, typeOf), names)]),
  ];
  const word = /[\w./-]*$/.exec(cursor.before)![0];
  return {
    start: offset - word.length,
    end: offset,
    candidates: candidates.filter(({ text: each }) => each.startsWith(word)),
  };
}

function expressionAnswer<A>(before: string, offset: number, scope: Scope<A>): CompleteAnswer {
  const { candidates, word } = completeExpression(before, scope);
  return {
    start: offset - word.length,
    end: offset,
    candidates: candidates.map((text) => {
      const variable = scope.variables.get(text);
      return { text, kind: text.endsWith('(') ? 'function' : 'variable', doc: variable?.doc ?? '' };
    }),
  };
}

/** The expression before the cursor, whole or within `${…}`; null if there is none. */
function expressionBefore({ before, wants }: Cursor, nodes: readonly SchemaNode[]): string | null {
  if (wants === 'key') return null;
  const template = before.lastIndexOf('${');
  if (template >= 0 && !before.slice(template).includes('}')) return before.slice(template + 2);
  return nodes.some(({ kind }) => kind === 'expression') ? before : null;
}

/** The phase whose variables are known at a path. */
function placeOf(path: readonly string[]): Parameters<typeof scopeFor>[0] {
  if (path.at(-1) === 'retry_condition') return 'retry_condition';
  const phase = path.findLast((key): key is Phase => (PHASES as readonly string[]).includes(key));
  return phase === undefined ? 'on_http_request' : scopePhase(phase);
}

function keysOf(nodes: readonly SchemaNode[]): Candidate[] {
  const keys = new Map<string, string>();
  for (const { properties = {} } of nodes)
    for (const [key, { description = '' }] of Object.entries(properties))
      keys.set(key, keys.get(key) || description);
  return Array.from(keys, ([key, doc]) => ({ text: `${key}: `, kind: 'key', doc }));
}

function valuesOf(nodes: readonly SchemaNode[]): Candidate[] {
  const values = nodes.flatMap(({ enum: list = [], const: only, type, description = '' }) => {
    const own = only === undefined ? list : [only];
    return (type === 'boolean' ? [true, false] : own).map((value) => [String(value), description] as const);
  });
  return Array.from(new Map(values), ([text, doc]) => ({ text, kind: 'value', doc }));
}

type Kind = Reference['kind'];

/** Where the names of a kind are declared in an edge file. */
const MAPS: Readonly<Record<Kind, string>> = {
  backend: 'backends',
  certificate_authority: 'certificate_authorities',
  ip_policy: 'ip_policies',
};

/** The kind of thing that a value names, by the facts of filters. */
function referred(path: readonly string[], typeOf: () => string | null): Kind | null {
  if (path[0] === MAPS.backend && path[2] === 'failover') return 'backend';
  const action = path.lastIndexOf('config');
  const isAction = action > 1 && path[action - 1] === '*' && path[action - 2] === 'actions';
  const module = path.findLastIndex((key) => MODULE_FACTS.has(key));
  const references = isAction
    ? ACTION_FACTS.get(typeOf() ?? '')?.references
    : MODULE_FACTS.get(path[module] ?? '')?.references;
  const below = `/${path.slice((isAction ? action : module) + 1).join('/')}`;
  return references?.find(({ at }) => at === below)?.kind ?? null;
}

/** The kind of thing that keys name. */
function namedKeys(path: readonly string[]): Kind | null {
  return path.length === 3 && path[0] === MAPS.backend && path[2] === 'weighted' ? 'backend' : null;
}

function namesOf(kind: Kind | null, names: (map: string) => readonly string[]): Candidate[] {
  if (kind === null) return [];
  return names(MAPS[kind]).map((text) => ({ text, kind: 'name', doc: `a name of ${MAPS[kind]}` }));
}

/** The keys of a map at the top of an edge file, which may be incomplete. */
function namesIn(text: string): (map: string) => readonly string[] {
  return (map) => {
    const lines = text.split('\n');
    const begin = lines.findIndex((line) => line.startsWith(`${map}:`));
    if (begin < 0) return [];
    const length = lines.slice(begin + 1).findIndex((line) => /^[^\s#]/.test(line));
    const own = lines.slice(begin + 1, length < 0 ? lines.length : begin + 1 + length);
    const indent = /^ +/.exec(own.find((line) => /^ +[^\s#]/.test(line)) ?? '')?.[0] ?? '  ';
    return own.flatMap((line) => {
      const key = line.startsWith(indent) ? /^(['"]?)([\w.-]+)\1\s*:/.exec(line.slice(indent.length)) : null;
      return key === null ? [] : [key[2]!];
    });
  };
}
