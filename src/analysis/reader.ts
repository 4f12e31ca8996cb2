import { type Node, walkNodes } from '../cel/ast.ts';
import { Double, Duration, type EvalError, Timestamp, Uint, type Value } from '../cel/values.ts';
import { parseDuration, parseTimestamp } from '../cel/time.ts';
import type { Local, Typed } from '../cel/typed.ts';
import type { Activation } from '../policy/env/activation.ts';
import type { Setting } from './setting.ts';
import type { Term } from './term.ts';

export type TypedExpression = Typed<Activation>;

/** What a loop variable or a name of `cel.bind` stands for. */
export type Bound = { readonly node: Node } | { readonly term: Term };

/** An expression where it is evaluated, and what its local names stand for. */
export class Reader {
  readonly typed: TypedExpression;
  readonly setting: Setting;
  readonly #locals: ReadonlyMap<Local, Bound>;
  readonly #elements: { isOpaque: boolean };

  constructor(
    typed: TypedExpression,
    setting: Setting,
    locals: ReadonlyMap<Local, Bound> = new Map(),
    elements = { isOpaque: false },
  ) {
    this.typed = typed;
    this.setting = setting;
    this.#locals = locals;
    this.#elements = elements;
  }

  with(local: Local, bound: Bound): Reader {
    return new Reader(this.typed, this.setting, new Map(this.#locals).set(local, bound), this.#elements);
  }

  /** With a name for each element of a list. */
  withElement(local: Local, term: Term): Reader {
    return new Reader(this.typed, this.setting, new Map(this.#locals).set(local, { term }), {
      isOpaque: false,
    });
  }

  /** Whether something opaque was read that elements of lists decide. */
  get hasOpaqueElements(): boolean {
    return this.#elements.isOpaque;
  }

  text({ span }: Node): string {
    return this.typed.ast.source.slice(span.start, span.end);
  }

  bound(node: Node): Bound | undefined {
    const meaning = this.typed.meanings[node.id];
    return meaning?.means === 'local' ? this.#locals.get(meaning.local) : undefined;
  }

  /**
   * An opaque node as a text that says what its local names stand for, and those in their values, so that equal texts
   * have equal values.
   */
  opaqueText(root: Node): string {
    const found = new Set<string>();
    walkNodes(root, (node) => {
      const bound = this.bound(node);
      if (bound === undefined) return;
      if ('term' in bound) this.#elements.isOpaque = true;
      const value = 'term' in bound ? bound.term.field : this.opaqueText(bound.node);
      found.add(`${this.text(node)} = (${value})`);
    });
    const text = this.text(root);
    return found.size === 0 ? text : `${text} where ${[...found].join()}`;
  }

  /** Whether a test holds for a node, one below it, or one in the values of the local names that it reads. */
  some(root: Node, test: (node: Node) => boolean): boolean {
    let isFound = false;
    walkNodes(root, (node) => {
      const bound = this.bound(node);
      isFound ||= bound !== undefined && 'node' in bound ? this.some(bound.node, test) : test(node);
    });
    return isFound;
  }

  /** The node that a name stands for. */
  resolved(node: Node): Node {
    const bound = this.bound(node);
    if (bound === undefined || 'term' in bound) return node;
    return this.resolved(bound.node);
  }

  /** The id of the only overload of a call; null if the values decide which one runs. */
  overload(node: Node): string | null {
    const meaning = this.typed.meanings[node.id];
    return meaning?.means === 'call' && meaning.exact ? (meaning.candidates[0]?.id ?? null) : null;
  }

  /** The arguments of a call, the target first. */
  args(node: Node): readonly Node[] {
    const meaning = this.typed.meanings[node.id];
    return meaning?.means === 'call' ? meaning.args : [];
  }

  variable(node: Node): string | null {
    const meaning = this.typed.meanings[node.id];
    return meaning?.means === 'variable' ? meaning.variable.name : null;
  }

  constant(of: Node): Value | undefined {
    const node = this.resolved(of);
    if (node.kind === 'literal') return node.value;
    if (node.kind === 'unary' && node.operator === '-') return negated(this.constant(node.operand));
    if (node.kind !== 'call') return undefined;
    const read = CONSTANTS[this.overload(node) ?? ''];
    const [only] = this.args(node);
    const text = read === undefined || only === undefined ? undefined : this.constant(only);
    const value = typeof text === 'string' ? read!(text) : undefined;
    return value === undefined || 'code' in value ? undefined : value;
  }

  string(node: Node): string | null {
    const value = this.constant(node);
    return typeof value === 'string' ? value : null;
  }

  /** A constant list of texts. */
  strings(of: Node): readonly string[] | null {
    const node = this.resolved(of);
    if (node.kind !== 'list' || node.elements.some(({ optional }) => optional)) return null;
    const texts = node.elements.map((element) => this.string(element.node));
    return texts.includes(null) ? null : (texts as readonly string[]);
  }
}

const CONSTANTS: Readonly<Record<string, (text: string) => Timestamp | Duration | EvalError>> = {
  string_to_timestamp: parseTimestamp,
  string_to_duration: parseDuration,
};

function negated(value: Value | undefined): Value | undefined {
  if (typeof value === 'number') return -value;
  if (typeof value === 'bigint') return -value;
  return value instanceof Double ? new Double(-value.value) : undefined;
}

const NANOS = 1_000_000_000n;

/**
 * A constant as a whole number in the order of its type: ints as they are, times and durations in nanoseconds.
 * Undefined for values of other types.
 */
export function orderOf(value: Value | undefined, type: NumberType): bigint | undefined {
  if (type === 'time')
    return value instanceof Timestamp || value instanceof Duration
      ? BigInt(value.seconds) * NANOS + BigInt(value.nanos)
      : undefined;
  if (typeof value === 'number' || typeof value === 'bigint') return BigInt(value);
  return value instanceof Uint ? BigInt(value.value) : undefined;
}

export type NumberType = 'int' | 'time';
