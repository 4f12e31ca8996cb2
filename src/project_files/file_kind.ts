import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { suggest } from '../diagnostics/suggest.ts';
import { EDGE_FILE } from '../edge/document/edge_file.ts';
import { EDGE_SHAPE } from '../edge/document/report.ts';
import { readDocument } from '../config_file/read.ts';
import { LEGACY_PHASES, PHASES } from '../filters/phase.ts';

/** The kinds of files that users write. */
export type KindOfFile = 'edge' | 'policy' | 'scenario';

/** Top-level keys of traffic policies, which edge files do not have. */
const POLICY_KEYS = [...PHASES, ...Object.keys(LEGACY_PHASES)];
const POLICY_KEY = new RegExp(`^\\s*["']?(?:${POLICY_KEYS.join('|')})["']?\\s*:`, 'm');
const EDGE_KEY = /^["']?(?:edges|backends)["']?\s*:/m;
/** Top-level keys of scenario files only. */
const SCENARIO_KEY = /^["']?(?:cases|simulation)["']?\s*:/m;

/** The key of a property file. Edge files may have it, too. */
const PROPERTY_KEY = /^["']?properties["']?\s*:/m;
/** Top-level keys of edge files that property files do not have. */
const OTHER_KEY = new RegExp(
  `^["']?(?:${Object.keys(EDGE_SHAPE.properties ?? {})
    .filter((key) => key !== 'properties')
    .join('|')})["']?\\s*:`,
  'm',
);

/** Whether a text has the key of a property file, and no key of other files. */
export function isPropertyFile(text: string): boolean {
  const keys = topLevel(text);
  return (
    PROPERTY_KEY.test(keys) && ![OTHER_KEY, SCENARIO_KEY, EDGE_KEY, POLICY_KEY].some((key) => key.test(keys))
  );
}

/** What a text is if it is of another tool, or a part of a file. */
export function otherFile(text: string): Diagnostic | undefined {
  const { diagnostics } = readDocument({ name: '', text }, EDGE_FILE);
  return diagnostics.find(({ code }) => code === `${EDGE_FILE.prefix}.other_file`);
}

/** Whether a text has top-level keys of a file that users write here, misspelt ones aside. */
export function isOfKnownKind(text: string): boolean {
  const keys = topLevel(text);
  return [SCENARIO_KEY, EDGE_KEY, POLICY_KEY].some((key) => key.test(keys));
}

/** Whether a text has a top-level key of scenario files. */
export function isScenario(text: string): boolean {
  return SCENARIO_KEY.test(topLevel(text));
}

/** The kind of a file, by its top-level keys; without known keys, the most similar kind, or the one in its name. */
export async function kindOfFile(text: string, name = ''): Promise<KindOfFile> {
  const keys = topLevel(text);
  if (SCENARIO_KEY.test(keys)) return 'scenario';
  if (EDGE_KEY.test(keys)) return 'edge';
  if (POLICY_KEY.test(keys)) return 'policy';
  return (await nearestKind(text)) ?? kindOfName(name);
}

const IN_BRACES = /^(?:[\s\uFEFF]|#.*\n|---)*\{/;
const QUOTED_OR_BRACKET = /"(?:[^"\\]|\\[^])*"|(?<=[\s[{,:])'[^']*'|[{}[\],]/g;

/** A mapping in braces, such as JSON, as lines with its own entries and nothing of what they contain; other texts as they are. */
function topLevel(text: string): string {
  if (!IN_BRACES.test(text)) return text;
  let depth = 0;
  let end = 0;
  let entries = '';
  for (const { 0: token, index } of text.matchAll(QUOTED_OR_BRACKET)) {
    if (depth === 1) entries += text.slice(end, index).trimStart();
    end = index + token.length;
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    else if (depth === 1) entries += token === ',' ? '\n' : token;
  }
  return entries;
}

/** An empty file has nothing but its name. */
function kindOfName(name: string): KindOfFile {
  const [, kind = 'edge'] = /(scenario|policy)\.(?:ya?ml|json)$/.exec(name) ?? [];
  return kind as KindOfFile;
}

/** The kind with the most similar keys; null if no key is similar. Loaded only when the keys are misspelt. */
async function nearestKind(text: string): Promise<KindOfFile | null> {
  const { document } = readDocument({ name: '', text }, EDGE_FILE);
  const entries = Object.entries((document?.value ?? {}) as Readonly<Record<string, unknown>>);
  const { SHELL_SHAPE } = await import('../simulator/document/scenario_shape.ts');
  const keys: Readonly<Record<KindOfFile, readonly string[]>> = {
    edge: Object.keys(EDGE_SHAPE.properties ?? {}),
    policy: POLICY_KEYS,
    scenario: ['cases', ...Object.keys(SHELL_SHAPE.properties ?? {})],
  };
  const similarity = (kind: KindOfFile): number =>
    entries.reduce((sum, [key, value]) => {
      const near = keys[kind].includes(key) ? 2 : suggest(key, keys[kind]) === undefined ? 0 : 1;
      return sum + near + (kind === 'policy' && isRules(value) ? 2 : 0);
    }, 0);
  const kinds = ['edge', 'policy', 'scenario'] as const;
  const nearest = kinds.reduce((best, kind) => (similarity(kind) > similarity(best) ? kind : best));
  return similarity(nearest) === 0 ? null : nearest;
}

/** Rules are recognised by their actions, whatever the name of the phase. */
function isRules(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((rule) => typeof rule === 'object' && rule !== null && 'actions' in rule)
  );
}

const SEEMS: Readonly<Record<KindOfFile, string>> = {
  edge: 'this seems to be an edge file; run it with `edgeproof dev`',
  policy:
    'this seems to be a traffic policy; run it in front of port 3000 with `edgeproof http 3000 --policy FILE`',
  scenario: 'this seems to be a scenario file; run it with `edgeproof test`',
};

const CALLED: Readonly<Record<KindOfFile, string>> = {
  edge: 'an edge file',
  policy: 'a traffic policy',
  scenario: 'a scenario file',
};

/** What is known of a file of ours that was given for another one: each of its keys would be a finding. */
function ofOtherKind(first: Diagnostic, kind: KindOfFile, readAs: 'edge' | 'scenario'): Diagnostic {
  const { fix: _rename, hint: _meant, notes: _known, ...place } = first;
  const hint = readAs === 'edge' ? SEEMS[kind].replace(/^.*; /, '') : `name a scenario file that tests it`;
  const message = `this is ${CALLED[kind]}, not ${CALLED[readAs]}`;
  return { ...place, code: `${readAs}.other_file`, message, hint };
}

/** Whether the findings only say that the keys at the top are those of another kind. */
function areKeysOfOther(found: readonly Diagnostic[]): boolean {
  return found.every(({ code, pointer }) =>
    code.endsWith('.unknown_key')
      ? /^\/[^/]*$/.test(pointer)
      : code.endsWith('.missing_key') && pointer === '',
  );
}

/** Reports findings about a file that was read as one kind, with a hint that it seems to be another. */
export async function reportKind(
  found: readonly Diagnostic[],
  text: string,
  readAs: KindOfFile,
): Promise<readonly Diagnostic[]> {
  const [first, ...others] = found;
  if (first?.severity !== 'error') return found;
  const kind = isOfKnownKind(text) ? await kindOfFile(text) : await nearestKind(text);
  if (kind === null || kind === readAs || otherFile(text) !== undefined) return found;
  if (readAs !== 'policy' && isOfKnownKind(text) && areKeysOfOther(found))
    return [ofOtherKind(first, kind, readAs)];
  return [{ ...first, notes: [...(first.notes ?? []), SEEMS[kind]] }, ...others];
}
