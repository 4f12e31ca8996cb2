import { type Logic, type Node, childrenOf } from '../cel/ast.ts';
import type { Span } from '../diagnostics/diagnostic.ts';
import type { MutationOperator } from './mutation_operators.ts';

/** A text that differs from another in one place. */
export interface ChangedText {
  readonly operator: MutationOperator;
  readonly text: string;
  /** The change, as part of a sentence: `&& is || here`. */
  readonly message: string;
}

/** Comparisons that people mix up. */
const OTHER_OPERATORS: Readonly<Record<string, readonly string[]>> = {
  '==': ['!='],
  '!=': ['=='],
  '<': ['<=', '>'],
  '<=': ['<', '>='],
  '>': ['>=', '<'],
  '>=': ['>', '<='],
};

/** Functions of texts that people mix up. */
const OTHER_FUNCTIONS: Readonly<Record<string, readonly string[]>> = {
  startsWith: ['contains', 'endsWith'],
  endsWith: ['contains', 'startsWith'],
  contains: ['startsWith', 'endsWith'],
};

interface Edit extends ChangedText {
  readonly span: Span;
}

/**
 * Expressions that differ from one in a way in which people err: a negated, missing or swapped condition, another
 * comparison, a constant that is off by one or by a letter. Some are not valid, or mean the same.
 */
export function expressionMutants(source: string, root: Node): ChangedText[] {
  return editsOf(root, source).map(({ span, text, message, operator }) => ({
    operator,
    text: source.slice(0, span.start) + text + source.slice(span.end),
    message,
  }));
}

function editsOf(node: Node, source: string): Edit[] {
  const written = ({ span }: { readonly span: Span }): string => source.slice(span.start, span.end);
  return [...ownEdits(node, written), ...childrenOf(node).flatMap((child) => editsOf(child, source))];
}

function ownEdits(node: Node, written: (part: { readonly span: Span }) => string): Edit[] {
  const { span } = node;
  switch (node.kind) {
    case 'logic':
      return logicEdits(node, written);
    case 'unary':
      return node.operator === '!'
        ? [
            {
              operator: 'term-negated',
              span,
              text: written(node.operand),
              message: `${written(node)} has no !`,
            },
          ]
        : [];
    case 'binary': {
      const edits = (OTHER_OPERATORS[node.operator] ?? []).map((text): Edit => ({
        operator: 'comparison',
        span: node.operatorSpan,
        text,
        message: `${node.operator} is ${text}`,
      }));
      if (node.operator !== '==' || node.right.kind !== 'literal') return edits;
      const text = `${written(node.left)}.startsWith(${written(node.right)})`;
      return [...edits, { operator: 'comparison', span, text, message: '== is startsWith' }];
    }
    case 'call': {
      const others = OTHER_FUNCTIONS[node.name];
      if (others === undefined || node.target === undefined) return [];
      const equal = `${written(node.target)} == ${node.args.map((each) => written(each)).join(', ')}`;
      const edits = others.map((text): Edit => ({
        operator: 'text-function',
        span: node.nameSpan,
        text,
        message: `${node.name} is ${text}`,
      }));
      return [...edits, { operator: 'text-function', span, text: equal, message: `${node.name} is ==` }];
    }
    case 'list': {
      const elements = node.elements.map((element) => written(element.node));
      return elements.map((element, at) => ({
        operator: 'element-missing',
        span,
        text: `[${elements.filter((_, index) => index !== at).join(', ')}]`,
        message: `${element} is missing`,
      }));
    }
    case 'literal':
      return constantEdits(node.value).map((value) => {
        const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
        return { operator: 'constant', span, text, message: `${written(node)} is ${text}` };
      });
    case 'name':
    case 'select':
    case 'has':
    case 'index':
    case 'conditional':
    case 'map':
    case 'message':
    case 'macro':
    case 'bind':
      return [];
  }
}

function logicEdits(node: Logic, written: (part: { readonly span: Span }) => string): Edit[] {
  const { span } = node;
  const terms = node.terms.map((term) => written(term));
  const other = node.operator === '&&' ? '||' : '&&';
  const swapped: Edit = {
    operator: 'and-or',
    span,
    text: terms.join(` ${other} `),
    message: `${node.operator} is ${other}`,
  };
  const edits = terms.flatMap((term, at): Edit[] => [
    {
      operator: 'term-missing',
      span,
      text: terms.filter((_, index) => index !== at).join(` ${node.operator} `),
      message: `${term} is missing`,
    },
    {
      operator: 'term-negated',
      span,
      text: terms.map((each, index) => (index === at ? `!(${each})` : each)).join(` ${node.operator} `),
      message: `${term} is negated`,
    },
  ]);
  return [swapped, ...edits];
}

function constantEdits(value: unknown): readonly (string | number)[] {
  if (typeof value === 'number') return [value - 1, value + 1];
  return typeof value === 'string' ? textMutants(value) : [];
}

/** Texts near one: a letter less and more, another case, and patterns without an anchor, a flag or a repetition. */
export function textMutants(text: string): string[] {
  const found = new Set([text.slice(0, -1), `${text}x`, text.replace(/[a-z](?=[^a-z]*$)/i, 'q')]);
  for (const [part, to] of [
    [/^\(\?i\)/, ''],
    [/^\^/, ''],
    [/\$$/, ''],
    [/[+*](?!\))/, ''],
    [/^(\(\?i\))?[^|]*\|/, '$1'],
    [/\|[^|]*$/, ''],
  ] as const)
    found.add(text.replace(part, to));
  if (/[\\^$|(+*?]/.test(text)) found.add(text.replace(/^(\(\?i\))?(.*)$/s, '$1^(?:$2)$'));
  found.delete(text);
  return [...found];
}
