import type { Node } from '../cel/ast.ts';
import { type Program, compile } from '../cel/program.ts';
import type { Activation } from '../policy/env/activation.ts';
import { type KnownTexts, redactedComparison } from './redacted_comparison.ts';
import { type Read, readsOf } from './reads.ts';

/** What is missing, and what is known of it. */
interface Losses extends KnownTexts {
  /** What is assumed of a condition that reads a missing value. */
  readonly judge: (text: string, loss: string) => boolean | Missing;
}

/** A missing value that a truth value depends on. */
export interface Missing {
  /** Its name in reports. */
  readonly attribute: string;
  /** The condition that reads it; null if it may be neither true nor false. */
  readonly condition: string | null;
}

/** A truth value, or the missing value that it depends on. Errors of the expression count as unknown. */
export type Judge = (activation: Activation, losses: Losses) => boolean | Missing;

const ERROR: Missing = { attribute: 'an error of the expression', condition: null };

/**
 * Evaluates the boolean structure of an expression (`&&`, `||`, `!`, `? :`) in Kleene's three-valued logic. Its
 * leaves are compiled separately; a leaf that reads a missing input is unknown.
 */
export function ternaryLogic(program: Program<Activation>): Judge {
  return judgeOf(program, program.typed.ast.root);
}

function judgeOf(program: Program<Activation>, node: Node): Judge {
  if (node.kind === 'logic') {
    return chain(
      node.terms.map((term) => judgeOf(program, term)),
      node.operator === '||',
    );
  }
  if (node.kind === 'unary' && node.operator === '!') {
    const inner = judgeOf(program, node.operand);
    return (activation, losses) => {
      const holds = inner(activation, losses);
      return typeof holds === 'boolean' ? !holds : holds;
    };
  }
  if (node.kind === 'conditional') {
    const [condition, yes, no] = [node.condition, node.yes, node.no].map((part) => judgeOf(program, part));
    return (activation, losses) => {
      const holds = condition!(activation, losses);
      if (typeof holds === 'boolean') return (holds ? yes! : no!)(activation, losses);
      const [one, other] = [yes!(activation, losses), no!(activation, losses)];
      return typeof one === 'boolean' && one === other ? one : holds;
    };
  }
  return leaf(program, node);
}

/** One deciding term decides the chain, even if others are unknown. */
function chain(terms: readonly Judge[], deciding: boolean): Judge {
  return (activation, losses) => {
    let unknown: Missing | null = null;
    for (const term of terms) {
      const holds = term(activation, losses);
      if (holds === deciding) return deciding;
      if (typeof holds !== 'boolean') unknown ??= holds;
    }
    return unknown ?? !deciding;
  };
}

function leaf(program: Program<Activation>, node: Node): Judge {
  const { typed, source } = program;
  const reads = readsOf(typed, node);
  const text = source.slice(node.span.start, node.span.end);
  const own = compile(text, typed.scope).program;
  const differs = neverEqual(program, node, reads);
  const compares = redactedComparison(program, node);
  return (activation, losses) => {
    const loss = losses.lossOf(reads, activation);
    if (loss !== null) {
      return differs?.(activation, loss) ?? compares?.(activation, losses) ?? losses.judge(text, loss);
    }
    const holds = own?.evaluate(activation);
    return typeof holds === 'boolean' ? holds : ERROR;
  };
}

function isLiteral(side: Node): boolean {
  return side.kind === 'literal' && typeof side.value === 'string';
}

/**
 * A value that lost only its letter case cannot equal a text that differs in more than case:
 * `getReqHeader('x')[0] == 'blue'` is false for a recorded `green`.
 */
function neverEqual(
  program: Program<Activation>,
  node: Node,
  reads: readonly Read[],
): ((activation: Activation, loss: string) => boolean | null) | null {
  if (node.kind !== 'binary' || (node.operator !== '==' && node.operator !== '!=')) return null;
  const literal = isLiteral(node.right) ? node.right : isLiteral(node.left) ? node.left : null;
  if (literal === null || reads.length !== 1) return null;
  const read = literal === node.right ? node.left : node.right;
  if (read.kind !== 'index' || read.index.kind !== 'literal' || read.optional) return null;
  const { source, typed } = program;
  const value = compile(source.slice(read.span.start, read.span.end), typed.scope).program;
  const wanted = (literal as Extract<Node, { kind: 'literal' }>).value as string;
  const isEqual = node.operator === '==';
  return (activation, loss) => {
    if (value === undefined || !loss.startsWith('case of ')) return null;
    const found = value.evaluate(activation);
    if (typeof found !== 'string' || found.toLowerCase() === wanted.toLowerCase()) return null;
    return !isEqual;
  };
}
