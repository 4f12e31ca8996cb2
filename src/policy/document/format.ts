import { isAlias, isMap, isScalar, isSeq, parseDocument, visit } from 'yaml';
import type { Document, Pair, Scalar, YAMLMap } from 'yaml';
import { LEGACY_TYPES } from '../../filters/table.ts';
import { LEGACY_PHASES, PHASES } from '../../filters/phase.ts';
import { type Shape, configShape, isActionType } from './shape.ts';
import { isJson } from '../../http/ascii.ts';
import { readDocument } from '../../config_file/read.ts';
import { POLICY_FILE } from './read.ts';

/** The result of formatting: the canonical text, or why it cannot be formatted. */
export type Formatted = { readonly text: string } | { readonly message: string };

const ROUNDS = 5;

/**
 * The canonical form of a policy: current names, keys in a fixed order, blocks instead of brackets, expressions
 * in quotes, comments kept. JSON stays JSON. Formatting is idempotent. A text that is not YAML, or that has
 * tags, is refused: `checkPolicy` reports its errors.
 */
export function formatPolicy(text: string): Formatted {
  // What is nested or repeated beyond the limits has no value to compare.
  if (readDocument({ name: 'policy', text }, POLICY_FILE).document === null)
    return { message: 'the text is not YAML with a policy' };
  let current = text;
  for (let round = 0; round < ROUNDS; round++) {
    const next = formatOnce(current);
    if ('message' in next || next.text === current) return next;
    current = next.text;
  }
  return { message: 'the comments of this text cannot all be kept' };
}

function formatOnce(text: string): Formatted {
  const document = read(text);
  if (document === null) return { message: 'the text is not YAML with a policy' };
  const { contents } = document;
  if (!isMap(contents)) return { message: 'the text is not a map of phases' };
  const wasJson = /^\s*\{/.test(text) && isJson(text);
  liftComment(document, contents);
  removeEnabled(document, contents);
  const expressions = canonical(contents, !hasAliases(document));
  const value = valueOf(document);
  if (wasJson) return { text: `${JSON.stringify(value, null, 2)}\n` };
  setStyles(document, expressions);
  const formatted = document.toString({
    lineWidth: 0,
    indent: 2,
    indentSeq: true,
    flowCollectionPadding: true,
  });
  // The library rewrites some strings and comments: a result that parses to a different value is rejected.
  const again = read(formatted);
  if (again === null || JSON.stringify(valueOf(again)) !== JSON.stringify(value)) {
    return { message: 'this text cannot be reformatted without changing its meaning' };
  }
  return { text: formatted };
}

/**
 * A comment at the top of the file stays there, whichever key comes first: the first paragraph of the comment
 * above the first key. The paragraph next to the key belongs to the key, unless it is the only one.
 */
function liftComment(document: Document, root: YAMLMap): void {
  const key = root.items[0]?.key;
  if (!isScalar(key) || typeof document.commentBefore === 'string') return;
  const above = key.commentBefore;
  if (typeof above !== 'string') return;
  const blank = above.lastIndexOf('\n\n');
  document.commentBefore = blank === -1 ? above : above.slice(0, blank);
  if (blank === -1) delete key.commentBefore;
  else key.commentBefore = above.slice(blank + 2);
}

/** Removes `enabled: true`; its comment moves to the next key, or to the end. */
function removeEnabled(document: Document, root: YAMLMap): void {
  const index = root.items.findIndex((pair) => keyOf(pair) === 'enabled');
  const pair = root.items[index];
  if (pair === undefined || root.items.length === 1 || root.get('enabled') !== true) return;
  const { key, value } = pair;
  const notes = [
    isScalar(key) ? key.commentBefore : undefined,
    isScalar(key) ? key.comment : undefined,
    isScalar(value) ? value.commentBefore : undefined,
    isScalar(value) ? value.comment : undefined,
  ].filter((note) => typeof note === 'string');
  root.items.splice(index, 1);
  if (notes.length === 0) return;
  const next = root.items[index]?.key;
  if (isScalar(next)) {
    next.commentBefore = [
      ...notes,
      ...(typeof next.commentBefore === 'string' ? [next.commentBefore] : []),
    ].join('\n');
  } else {
    document.comment = [...notes, ...(typeof document.comment === 'string' ? [document.comment] : [])].join(
      '\n',
    );
  }
}

function read(text: string): Document | null {
  try {
    const document = parseDocument(text, { prettyErrors: false, logLevel: 'error' });
    if (document.errors.length > 0 || document.warnings.length > 0 || hasTags(document)) return null;
    return document;
  } catch {
    return null;
  }
}

/** The limit of aliases is that of files. */
export function valueOf(document: Document): unknown {
  return document.toJS({ maxAliasCount: -1 });
}

function hasTags(document: Document): boolean {
  let found = false;
  visit(document, {
    Node: (_key, node) => {
      if (!isAlias(node) && node.tag !== undefined) found = true;
      return found ? visit.BREAK : undefined;
    },
  });
  return found;
}

function hasAliases(document: Document): boolean {
  let found = false;
  visit(document, {
    Alias: () => {
      found = true;
      return visit.BREAK;
    },
  });
  return found;
}

/** The state of one pass over a document. */
interface Pass {
  readonly mayOrder: boolean;
  /** Nodes that are expressions; filled in on the way. */
  readonly expressions: Set<unknown>;
}

/**
 * Renames to current names and sorts keys, throughout the document; returns the nodes that are expressions. Documents
 * with aliases are not sorted.
 */
function canonical(root: YAMLMap, mayOrder: boolean): ReadonlySet<unknown> {
  const pass: Pass = { mayOrder, expressions: new Set() };
  renameKeys(root, LEGACY_PHASES);
  if (mayOrder) orderKeys(root, PHASES);
  for (const [index, { key }] of root.items.entries()) if (isScalar(key)) key.spaceBefore = index > 0;
  for (const phase of PHASES) {
    for (const rule of itemsOf(root.get(phase, true))) {
      if (!isMap(rule)) continue;
      if (mayOrder) orderKeys(rule, ['name', 'expressions', 'actions']);
      const conditions = rule.get('expressions', true);
      for (const condition of [conditions, ...itemsOf(conditions)]) pass.expressions.add(condition);
      for (const action of itemsOf(rule.get('actions', true))) {
        if (isMap(action)) canonicalAction(action, pass);
      }
    }
  }
  return pass.expressions;
}

function canonicalAction(action: YAMLMap, pass: Pass): void {
  const type = action.get('type', true);
  if (isScalar(type) && typeof type.value === 'string')
    type.value = LEGACY_TYPES.get(type.value) ?? type.value;
  if (pass.mayOrder) orderKeys(action, ['type', 'config']);
  const name = isScalar(type) ? type.value : undefined;
  if (typeof name !== 'string' || !isActionType(name)) return;
  canonicalFields(configShape(name), action.get('config', true), pass);
}

/** A comment above the first key of a map belongs to that key, which may be moved. */
function lowerComment(map: YAMLMap): void {
  const key = map.items[0]?.key;
  if (!isScalar(key) || typeof map.commentBefore !== 'string') return;
  key.commentBefore = [map.commentBefore, key.commentBefore]
    .filter((part) => typeof part === 'string')
    .join('\n');
  delete map.commentBefore;
}

function canonicalFields(shape: Shape, node: unknown, pass: Pass): void {
  if (shape.kind === 'expression') pass.expressions.add(node);
  if (shape.items !== undefined) {
    for (const item of isSeq(node) ? node.items : [node]) canonicalFields(shape.items, item, pass);
  }
  const { properties } = shape;
  if (properties === undefined || !isMap(node)) return;
  renameKeys(node, shape.aliases ?? {});
  const names = Object.keys(properties);
  if (pass.mayOrder && isOutOfOrder(node, names)) {
    lowerComment(node);
    orderKeys(node, names);
  }
  for (const name of names) {
    const field = properties[name]!;
    const value: unknown = node.get(name, true);
    const only = itemsOf(value);
    if (field.itemOrList === true && only.length === 1) node.set(name, only[0]);
    canonicalFields(field, node.get(name, true), pass);
  }
}

function itemsOf(node: unknown): readonly unknown[] {
  return isSeq(node) ? node.items : [];
}

function keyOf({ key }: Pair): string | undefined {
  return isScalar(key) && typeof key.value === 'string' ? key.value : undefined;
}

function renameKeys(map: YAMLMap, names: Readonly<Record<string, string>>): void {
  for (const pair of map.items) {
    const key = keyOf(pair);
    if (key === undefined || !Object.hasOwn(names, key) || map.has(names[key])) continue;
    (pair.key as Scalar).value = names[key];
  }
}

function isOutOfOrder(map: YAMLMap, names: readonly string[]): boolean {
  const ranks = map.items.map((pair) => names.indexOf(keyOf(pair) ?? '')).filter((rank) => rank !== -1);
  return ranks.some((rank, index) => index > 0 && rank < ranks[index - 1]!);
}

/** Known keys first, in their order; then all others in their original order. */
function orderKeys(map: YAMLMap, names: readonly string[]): void {
  const rank = (pair: Pair): number => {
    const index = names.indexOf(keyOf(pair) ?? '');
    return index === -1 ? names.length : index;
  };
  map.items = map.items.toSorted((one, other) => rank(one) - rank(other));
  const first = map.items[0]?.key;
  if (isScalar(first)) first.spaceBefore = false;
}

/** Blocks instead of brackets, and uniform quotes, always around expressions. Block scalars stay as they are. */
function setStyles(document: Document, expressions: ReadonlySet<unknown>): void {
  visit(document, {
    Map: (_key, map) => {
      map.flow = map.items.length === 0;
    },
    Seq: (_key, list) => {
      list.flow = list.items.length === 0;
    },
    Scalar: (key, scalar) => {
      if (key === 'key') {
        delete scalar.type;
        return;
      }
      if (typeof scalar.value !== 'string' || scalar.type?.startsWith('BLOCK_')) return;
      scalar.type = styleOf(scalar.value, expressions.has(scalar));
    },
  });
}

/** Double quotes if the text has single ones, single quotes if it has double ones or backslashes. */
function styleOf(text: string, isQuoted: boolean): Scalar.Type {
  const hasEscapes = /["\\]/.test(text) || /[^\P{Cc}]/u.test(text);
  const quotes = hasEscapes && !text.includes("'") && !/\p{Cc}/u.test(text) ? 'QUOTE_SINGLE' : 'QUOTE_DOUBLE';
  return isQuoted || !isPlainText(text) ? quotes : 'PLAIN';
}

/** Whether a string can be written without quotes and parses to itself in any YAML version. */
function isPlainText(text: string): boolean {
  return (
    /^[A-Za-z0-9_/.$^(~-][^\n\r\t#]*$/.test(text) &&
    !/: |:$|^[-.~] | $|^-$/.test(text) &&
    !/^(?:null|~|true|false|yes|no|on|off|y|n|\.inf|\.nan)$/i.test(text) &&
    !/^[-+.]?[\d.][\d_.,:xXoOeE+-]*[0-9a-fA-F.]*$/.test(text) &&
    !text.startsWith('---') &&
    !text.startsWith('...')
  );
}
