import type { Span } from '../diagnostics/diagnostic.ts';
import type { Reference } from '../filters/fact_values.ts';
import { PHASES } from '../filters/phase.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../filters/table.ts';
import { collector, movedSpan } from './collected.ts';
import { type EditedText, type Place, innerSpan, rawText } from './edited_text.ts';
import { expressionsIn } from './expressions.ts';
import type { YamlScalar } from './yaml_tree.ts';

/** What has a name in the files of a project. A secret is named by its vault and itself: `vault/name`. */
export type NameKind = Reference['kind'] | 'rule' | 'vault' | 'secret' | 'identity' | 'case';

/** A name, where it is declared or used. */
export interface Occurrence {
  readonly kind: NameKind;
  readonly name: string;
  readonly isDeclaration: boolean;
  /** The text of the name in the file, without quotes. */
  readonly span: Span;
}

/** The names that are declared by keys below a key at the top of an edge file. */
const MAPS: Readonly<Record<string, NameKind>> = {
  backends: 'backend',
  certificate_authorities: 'certificate_authority',
  ip_policies: 'ip_policy',
};

/** All names in a text, in its order. */
export const namesIn = collector<Occurrence>(
  (found, edited) => (place, node, key) => {
    const add = (kind: NameKind, name: string, isDeclaration: boolean, scalar: YamlScalar): void => {
      found({ kind, name, isDeclaration, span: innerSpan(edited.text, scalar) });
    };
    const { path } = edgePlace(edited, place);
    const isScenario = edited.root === 'scenario' && path === place.path;
    if (key !== null) {
      const declared = isScenario ? declaredInScenario(path) : path.length === 2 ? MAPS[path[0]!] : undefined;
      const word = rawText(edited.text, key);
      if (declared !== undefined)
        add(declared, declared === 'secret' ? `${path[1]}/${word}` : word, true, key);
      const referred = isScenario ? keyOfScenario(path, word) : namedKey(path);
      if (referred !== null) add(referred, word, false, key);
    }
    if (node?.kind !== 'scalar') return;
    const word = rawText(edited.text, node);
    const own = isScenario ? valueOfScenario(path, word) : null;
    if (own !== null) add(own.kind, word, own.isDeclaration, node);
    else if (isRuleName(path)) add('rule', word, true, node);
    else {
      const kind = referredKind(path, place.type);
      if (kind !== null) add(kind, word, false, node);
    }
    for (const secret of secretsIn(edited, place, node)) found(secret);
  },
  (name, by) => ({ ...name, span: movedSpan(name.span, by) }),
);

/** Scenarios may have the edge that they test. */
function edgePlace({ root }: EditedText, place: Place): Place {
  return root === 'scenario' && place.path[0] === 'edge' && place.path.length > 1
    ? { ...place, path: place.path.slice(1) }
    : place;
}

function declaredInScenario(path: readonly string[]): NameKind | undefined {
  if (path[0] === 'secrets') return path.length === 2 ? 'vault' : path.length === 3 ? 'secret' : undefined;
  return path[0] === 'identities' && path.length === 2 ? 'identity' : undefined;
}

function keyOfScenario(path: readonly string[], word: string): NameKind | null {
  const above = path.at(-2);
  return (above === 'upstreams' && !word.includes('://')) || above === 'share' ? 'backend' : null;
}

function valueOfScenario(
  path: readonly string[],
  word: string,
): { readonly kind: NameKind; readonly isDeclaration: boolean } | null {
  const [last, above] = [path.at(-1), path.at(-2)];
  if (path.length === 3 && path[0] === 'cases' && last === 'name')
    return { kind: 'case', isDeclaration: true };
  if (last === 'rule' && above === 'because') return { kind: 'rule', isDeclaration: false };
  if (last === 'upstream' && above === 'expect' && word !== 'none')
    return { kind: 'backend', isDeclaration: false };
  return last === 'as' ? { kind: 'identity', isDeclaration: false } : null;
}

function isRuleName(path: readonly string[]): boolean {
  const phase = path.at(-3) ?? '';
  return path.at(-1) === 'name' && path.at(-2) === '*' && (PHASES as readonly string[]).includes(phase);
}

/** The kind of thing that a value names, by the facts of filters. */
export function referredKind(path: readonly string[], type: string | null): Reference['kind'] | null {
  if (path[0] === 'backends' && path[2] === 'failover' && path.length === 4) return 'backend';
  const config = path.lastIndexOf('config');
  const isAction = config > 1 && path[config - 1] === '*' && path[config - 2] === 'actions';
  const module = path.findLastIndex((key) => MODULE_FACTS.has(key));
  const references = isAction
    ? ACTION_FACTS.get(type ?? '')?.references
    : MODULE_FACTS.get(path[module] ?? '')?.references;
  if (references === undefined) return null;
  const below = `/${path.slice((isAction ? config : module) + 1).join('/')}`;
  return references.find(({ at }) => at === below)?.kind ?? null;
}

/** The kind of thing that keys name. */
export function namedKey(path: readonly string[]): Reference['kind'] | null {
  return path.length === 4 && path[0] === 'backends' && path[2] === 'weighted' ? 'backend' : null;
}

const SECRET = /secrets\.get\(\s*(['"])([^'"\\]*)\1\s*(?:,\s*(['"])([^'"\\]*)\3)?/g;

/** What expressions read by `secrets.get(vault, name)`. */
function secretsIn(edited: EditedText, place: Place, scalar: YamlScalar): readonly Occurrence[] {
  if (!edited.text.slice(scalar.start, scalar.end).includes('secrets.get')) return [];
  return expressionsIn(edited, place, scalar).flatMap(({ source, inFile }) =>
    Array.from(source.matchAll(SECRET)).flatMap((match): readonly Occurrence[] => {
      const [whole, , vault = '', , name] = match;
      const at = match.index + whole.indexOf(vault, 'secrets.get('.length);
      const span = inFile({ start: at, end: at + vault.length });
      const own: Occurrence = { kind: 'vault', name: vault, isDeclaration: false, span };
      if (name === undefined) return [own];
      const end = match.index + whole.length - 1;
      const inner = inFile({ start: end - name.length, end });
      return [own, { kind: 'secret', name: `${vault}/${name}`, isDeclaration: false, span: inner }];
    }),
  );
}
