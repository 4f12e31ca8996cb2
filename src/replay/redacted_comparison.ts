import type { Node } from '../cel/ast.ts';
import { type Program, compile } from '../cel/program.ts';
import { keysOfMap } from '../cel/equality.ts';
import type { Typed } from '../cel/typed.ts';
import { type MapValue, type Outcome, foldsCase, isError, isList, isMap } from '../cel/values.ts';
import type { Activation } from '../policy/env/activation.ts';
import { markOfParameter } from './keyed_hashes.ts';
import { type Read, fieldAccess, readsOf } from './reads.ts';

/** What is known of redacted texts. */
export interface KnownTexts {
  readonly lossOf: (reads: readonly Read[], activation: Activation) => string | null;
  /** Whether two texts were equal before redaction; null if it is not known. */
  readonly wereEqual: (one: string, other: string) => boolean | null;
}

/** The result of a comparison of redacted values; null if it is not known. */
type Comparison = (activation: Activation, known: KnownTexts) => boolean | null;

/**
 * `==`, `!=` and `in` of texts, of which some are values of the request as they are: `getReqHeader('x-api-key')[0] ==
 * 'abc'`, `getReqCookie('team') in ['a', 'b']`. Null for other expressions.
 */
export function redactedComparison(program: Program<Activation>, node: Node): Comparison | null {
  if (node.kind !== 'binary' || !['==', '!=', 'in'].includes(node.operator)) return null;
  const isIn = node.operator === 'in';
  const elements = isIn && node.right.kind === 'list' ? node.right.elements.map((each) => each.node) : null;
  const left = sideOf(program, node.left);
  const rights = (elements ?? [node.right]).map((each) => sideOf(program, each));
  if (left === null || rights.includes(null)) return null;
  const sides = rights as readonly Side[];
  if ([left, ...sides].every(({ place }) => place === null)) return null;
  return (activation, known) => {
    const one = textsOf(left, activation, known);
    const found = sides.map((side) => textsOf(side, activation, known));
    const others = elements === null ? found[0]! : listed(found);
    if (typeof one !== 'string' || others === null || isIn === (typeof others === 'string')) return null;
    if (typeof others === 'string') {
      const isEqual = known.wereEqual(one, others);
      return isEqual === null ? null : isEqual === (node.operator === '==');
    }
    const equal = new Set(others.map((each) => known.wereEqual(one, each)));
    if (equal.has(true)) return true;
    return equal.has(null) ? null : false;
  };
}

function listed(found: readonly (string | readonly string[] | null)[]): readonly string[] | null {
  return found.every((each) => typeof each === 'string') ? found : null;
}

/** Where a value is in a request. */
type Place = 'header' | 'cookie' | 'query';

interface Side {
  /** Null if the text is made of other values. */
  readonly place: Place | null;
  readonly reads: readonly Read[];
  readonly evaluate: (activation: Activation) => Outcome;
}

function sideOf(program: Program<Activation>, node: Node): Side | null {
  const { typed, source } = program;
  const own = compile(source.slice(node.span.start, node.span.end), typed.scope).program;
  if (own === undefined) return null;
  return { place: placeOf(typed, node), reads: readsOf(typed, node), evaluate: own.evaluate };
}

/** The text of a side, or those of its list or of the keys of its map; null if something else is lost. */
function textsOf(side: Side, activation: Activation, known: KnownTexts): string | readonly string[] | null {
  if (side.place === null && known.lossOf(side.reads, activation) !== null) return null;
  const value = side.evaluate(activation);
  const read = (text: string) => (side.place === 'query' ? markOfParameter(text) : text);
  if (typeof value === 'string') return read(value);
  const texts: readonly unknown[] | null =
    !isError(value) && isList(value) ? value : isExactMap(value) ? keysOfMap(value) : null;
  return texts?.every((each) => typeof each === 'string') === true ? texts.map(read) : null;
}

/** Maps of header fields ignore the letter case of keys. */
function isExactMap(value: Outcome): value is MapValue {
  return !isError(value) && isMap(value) && !foldsCase(value);
}

const VALUES_OF: Readonly<Record<string, Place>> = {
  getReqCookie: 'cookie',
  getQueryParam: 'query',
  'req.cookies': 'cookie',
  'req.url.query_params': 'query',
};

/** The place of a value that an expression reads as it is, or of the list of such values. */
export function placeOf(typed: Typed<Activation>, node: Node): Place | null {
  const access = fieldAccess(typed, node);
  // A field of cookies has several values in one text.
  if (access !== null) return access.presence || access.name === 'cookie' ? null : 'header';
  if (node.kind === 'call') return VALUES_OF[node.name] ?? null;
  const place = VALUES_OF[nameOf(typed, node) ?? ''];
  if (place !== undefined) return place;
  if (node.kind === 'index' && !node.optional) return placeOf(typed, node.operand);
  if (node.kind !== 'select' || node.optional) return null;
  const isKey = VALUES_OF[nameOf(typed, node.operand) ?? ''] !== undefined;
  return isKey || node.field === 'value' ? placeOf(typed, node.operand) : null;
}

/** The dotted name of a variable or of its member. */
function nameOf(typed: Typed<Activation>, node: Node): string | null {
  const meaning = typed.meanings[node.id];
  if (meaning?.means === 'variable') return meaning.variable.name;
  if (node.kind !== 'select') return null;
  const operand = nameOf(typed, node.operand);
  return operand === null ? null : `${operand}.${node.field}`;
}
