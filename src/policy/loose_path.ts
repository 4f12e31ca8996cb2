import { type Node, childrenOf, dottedPath } from '../cel/ast.ts';
import type { Program } from '../cel/program.ts';
import type { Activation } from './env/activation.ts';
import { EvalError } from '../cel/values.ts';
import { withTarget } from '../http/heads.ts';
import { looseText } from '../http/readings.ts';
import { type Condition, conditionFailure } from '../filters/evaluators.ts';
import type { Failure } from '../filters/failure.ts';

/**
 * A rule that guards by the path must also apply to other spellings that the server behind the edge may accept. If its
 * expressions are false for the path itself, they are evaluated for each reading of a more lenient server
 * (`http/readings.ts`). Readings are decoded and lower case, so the texts that an expression compares them with are
 * rewritten in the same way.
 */

/** Parts of a URL without the path. */
const PATHLESS: ReadonlySet<string> = new Set([
  'authority',
  'fragment',
  'host',
  'port',
  'query',
  'query_params',
  'scheme',
  'user_password',
]);

interface LooseSource {
  readonly source: string;
  /** Whether a text in it was rewritten: then it may be true even for a path with a single reading. */
  readonly isRewritten: boolean;
}

/**
 * An expression rewritten for readings. `nothing`: it does not read the path. `literal`: it is used as written, because
 * a text with a path parameter, or a pattern that distinguishes upper and lower case, shows that its author has
 * considered spellings.
 */
export function looseSource({
  source,
  typed,
}: Pick<Program<Activation>, 'source' | 'typed'>): LooseSource | Exclude<Found, 'reads'> {
  const edits: Edit[] = [];
  const found = rewrite(typed.ast.root, edits);
  if (found !== 'reads') return found;
  edits.sort((one, other) => other.start - one.start);
  let rewritten = source;
  for (const { start, end, text } of edits)
    rewritten = rewritten.slice(0, start) + text + rewritten.slice(end);
  return { source: rewritten, isRewritten: edits.some(({ matters }) => matters) };
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Whether it changes the result for a path in lower case. */
  readonly matters: boolean;
}

type Found = 'reads' | 'nothing' | 'literal';

/**
 * Finds the smallest terms that read the path, and rewrites the texts in them. `isAlternative`: the expression is true
 * if the node is, or may be with other terms.
 */
function rewrite(node: Node, edits: Edit[], isAlternative = true): Found {
  if (node.kind === 'logic' && node.operator === '||' && isAlternative)
    return rewriteAlternatives(node.terms, edits);
  const isBranch =
    node.kind === 'logic' || node.kind === 'conditional' || (node.kind === 'unary' && node.operator === '!');
  if (!isBranch) return readsPath(node) ? rewriteTexts(node, edits) : 'nothing';
  let found: Found = 'nothing';
  for (const child of childrenOf(node)) {
    const each = rewrite(child, edits, isAlternative && node.kind === 'logic');
    if (each === 'literal') return each;
    if (each === 'reads') found = each;
  }
  return found;
}

/** A term that is used as written was false for the path itself. It must not keep the others from being loose. */
function rewriteAlternatives(terms: readonly Node[], edits: Edit[]): Found {
  const all = terms.map((term) => {
    const own: Edit[] = [];
    return { term, own, found: rewrite(term, own) };
  });
  if (!all.some(({ found }) => found === 'reads'))
    return all.some(({ found }) => found === 'literal') ? 'literal' : 'nothing';
  for (const { term, own, found } of all) {
    const { start, end } = term.span;
    if (found === 'literal') edits.push({ start, end, text: 'false', matters: false });
    else edits.push(...own);
  }
  return 'reads';
}

function readsPath(node: Node): boolean {
  const path = dottedPath(node);
  if (path !== undefined)
    return path[0] === 'req' && path[1] === 'url' && (path[2] === undefined || !PATHLESS.has(path[2]));
  return childrenOf(node).some(readsPath);
}

/** Variables of the exchange; all others are local names of the expression. */
const EXCHANGE: ReadonlySet<string> = new Set(['actions', 'conn', 'endpoint', 'req', 'res']);

function readsRequest(node: Node): boolean {
  return node.kind === 'name' ? EXCHANGE.has(node.name) : childrenOf(node).some(readsRequest);
}

/** A pattern that distinguishes upper and lower case, or encoded and plain characters. */
const TELLS_SPELLINGS = /%|;|\\[pP]|\[:|\[[^\]a-z]*[A-Z][^\]a-z]*\]/;

function rewriteTexts(node: Node, edits: Edit[]): Found {
  if (node.kind === 'literal' && typeof node.value === 'string') {
    if (node.value.includes(';')) return 'literal';
    replace(node, looseText(node.value), edits);
    return 'reads';
  }
  // In the body of a loop over paths, comparisons of other values are not rewritten.
  if (node.kind === 'binary' && !readsPath(node) && readsRequest(node)) return 'nothing';
  const isPattern = node.kind === 'call' && node.name === 'matches';
  for (const [at, child] of childrenOf(node).entries()) {
    if (isPattern && at === 1 && child.kind === 'literal' && typeof child.value === 'string') {
      if (TELLS_SPELLINGS.test(child.value)) return 'literal';
      replace(child, `(?i)${child.value}`, edits, /[A-Z]/.test(child.value.replaceAll(/\\./g, '')));
    } else if (rewriteTexts(child, edits) === 'literal') return 'literal';
  }
  return 'reads';
}

function replace(
  { span, value }: Extract<Node, { kind: 'literal' }>,
  text: string,
  edits: Edit[],
  matters = true,
): void {
  if (text !== value) edits.push({ start: span.start, end: span.end, text: JSON.stringify(text), matters });
}

/** The expressions of a rule for readings of the path. */
export interface LooseConditions {
  /** Compiled on first use: most rules never meet a path with two readings. Null: the rule is skipped for readings. */
  readonly conditions: () => readonly Condition[] | null;
  /** Whether they may be true for a path with a single reading. */
  readonly isRewritten: boolean;
}

/** The expressions of a guarding rule for readings; null if readings cannot change the result. */
export function looseConditions(
  conditions: readonly Condition[],
  compileLoose: (source: string, condition: Condition) => Condition,
): LooseConditions | null {
  const sources = conditions.map(({ program }) => (program === null ? 'literal' : looseSource(program)));
  if (sources.includes('literal') || !sources.some((source) => typeof source === 'object')) return null;
  let compiled: readonly Condition[] | null | undefined;
  const compileAll = (): readonly Condition[] | null => {
    const all = conditions.map((condition, at) => {
      const loose = sources[at]!;
      return typeof loose === 'object' ? compileLoose(loose.source, condition) : condition;
    });
    // Without letter case a pattern may become too large; the rule is then used as written.
    return all.every(({ program }) => program !== null) ? all : null;
  };
  return {
    conditions: () => (compiled ??= compiled === null ? null : compileAll()),
    isRewritten: sources.some((source) => typeof source === 'object' && source.isRewritten),
  };
}

/** The reading of the request's path for which all expressions are true; null if there is none. */
export function readingThatHolds(
  { conditions, isRewritten }: LooseConditions,
  activation: Activation,
): string | Failure | null {
  const { request, spellings } = activation;
  if (spellings === null && !isRewritten) return null;
  const loose = conditions();
  if (loose === null) return null;
  try {
    for (const reading of spellings ?? [request.path]) {
      activation.changeRequest({ ...withTarget(request, reading, request.query), sentTarget: reading });
      const holds = allHold(loose, activation);
      if (holds !== false) return holds === true ? reading : holds;
    }
  } finally {
    activation.changeRequest(request);
  }
  return null;
}

/**
 * An error of an expression means that it does not apply to this reading; but exceeding the evaluation limit must not
 * skip a reading.
 */
function allHold(conditions: readonly Condition[], activation: Activation): boolean | Failure {
  for (const condition of conditions) {
    const holds = condition.evaluate(activation);
    if (holds === true) continue;
    const isBroken = holds instanceof EvalError && holds.code === 'expr.budget_exceeded';
    return isBroken ? conditionFailure(condition, holds) : false;
  }
  return true;
}
