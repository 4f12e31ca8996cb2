import type { Node } from '../cel/ast.ts';
import type { Span } from '../diagnostics/diagnostic.ts';

/** A part of an expression that can be left out. */
export interface Part {
  readonly kind: 'term' | 'element';
  readonly operator: '&&' | '||' | null;
  readonly text: string;
  readonly span: Span;
  /** The whole expression without it; a term is replaced by a constant, so that the places of others stay. */
  readonly without: (source: string) => string;
  /** The whole expression without it and its operator; it may be invalid, or mean something else. */
  readonly shorter: string;
}

/** The terms of `&&` and `||`, and the elements of lists of constants, the last first. */
export function partsOf(root: Node, source: string): readonly Part[] {
  const parts: Part[] = [];
  const textOf = ({ span }: Node): string => source.slice(span.start, span.end);
  const visit = (node: Node): void => {
    if (node.kind === 'logic') {
      for (const [index, term] of node.terms.entries()) {
        // Constants are written on purpose.
        if (term.kind === 'literal') continue;
        const neutral = node.operator === '&&' ? 'true' : 'false';
        const { span } = term;
        parts.push({
          kind: 'term',
          operator: node.operator,
          text: textOf(term),
          span,
          without: (whole) => whole.slice(0, span.start) + neutral + whole.slice(span.end),
          shorter:
            index === 0
              ? source.slice(0, span.start) + source.slice(node.terms[1]!.span.start)
              : source.slice(0, node.terms[index - 1]!.span.end) + source.slice(span.end),
        });
        visit(term);
      }
    } else if (node.kind === 'unary') visit(node.operand);
    else if (node.kind === 'conditional') for (const each of [node.condition, node.yes, node.no]) visit(each);
    else if (node.kind === 'binary' && node.operator === 'in') list(node.right);
    else if (node.kind === 'call') for (const each of node.args) list(each);
  };
  const list = (node: Node): void => {
    if (node.kind !== 'list' || node.elements.length < 2 || node.elements.length > 64) return;
    const all = node.elements.map((element) => element.node);
    if (!all.every((each) => each.kind === 'literal')) return;
    for (const [index, each] of all.entries()) {
      const rest = all.filter((_, at) => at !== index).map(textOf);
      const { span } = node;
      parts.push({
        kind: 'element',
        operator: null,
        text: textOf(each),
        span: each.span,
        without: (whole) => `${whole.slice(0, span.start)}[${rest.join(', ')}]${whole.slice(span.end)}`,
        shorter: `${source.slice(0, span.start)}[${rest.join(', ')}]${source.slice(span.end)}`,
      });
    }
  };
  visit(root);
  return parts.toReversed();
}

/** A pattern that a `matches` call compares a text of the request with. */
export interface MatchedPattern {
  readonly subject: Node;
  readonly pattern: string;
  /** The whole expression with another pattern. */
  readonly replaced: (source: string, pattern: string) => string;
}

/** Groups of plain alternatives in patterns, such as `(get|head)`. */
const ALTERNATIVES = /(?<![\\])\((?:\?:)?([^()|[\]\\]+(?:\|[^()|[\]\\]+)+)\)/g;

/** The alternatives of a pattern, and for each the pattern that has only it in its place. */
export function alternativesOf(pattern: string): readonly (readonly [alternative: string, only: string])[] {
  return [...pattern.matchAll(ALTERNATIVES)].flatMap(({ 0: group, 1: list, index }) =>
    list!
      .split('|')
      .map((each): readonly [string, string] => [
        each,
        `${pattern.slice(0, index)}(?:${each})${pattern.slice(index + group.length)}`,
      ]),
  );
}

/** The constant patterns of `matches`. */
export function patternsOf(root: Node): readonly MatchedPattern[] {
  const found: MatchedPattern[] = [];
  const visit = (node: Node): void => {
    if (node.kind === 'logic') node.terms.forEach(visit);
    else if (node.kind === 'unary') visit(node.operand);
    else if (node.kind === 'conditional') [node.condition, node.yes, node.no].forEach(visit);
    else if (node.kind === 'call' && node.name === 'matches') {
      const [subject, argument] = node.target === undefined ? node.args : [node.target, node.args[0]];
      if (subject === undefined || argument?.kind !== 'literal' || typeof argument.value !== 'string') return;
      const { span } = argument;
      found.push({
        subject,
        pattern: argument.value,
        replaced: (source, pattern) =>
          `${source.slice(0, span.start)}${JSON.stringify(pattern)}${source.slice(span.end)}`,
      });
    }
  };
  visit(root);
  return found;
}
