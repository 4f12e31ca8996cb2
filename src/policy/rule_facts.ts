import type { Node } from '../cel/ast.ts';
import type { Program } from '../cel/program.ts';
import type { Variable } from '../cel/scope.ts';
import { isTextual } from '../cel/types.ts';
import type { Activation } from './env/activation.ts';

/** A requirement of a rule: the variable equals one of the values, or has one of the prefixes. */
export interface RequiredFact {
  readonly variable: Variable<Activation>;
  readonly values: readonly (string | number)[];
  readonly prefixes: readonly string[];
}

type Typed = Program<Activation>['typed'];

/**
 * The facts that a rule requires, derived from its expressions. A rule whose fact is not met can be skipped
 * without a visible difference: a fact is used only if nothing evaluated before it can fail the request or use
 * randomness. Within one expression a false term outweighs errors of the others; across expressions it does
 * not, so earlier ones must be unable to fail.
 */
export function requiredFacts(programs: readonly Program<Activation>[]): RequiredFact[] {
  const facts: RequiredFact[] = [];
  for (const { typed } of programs) {
    collect(typed, typed.ast.root, facts);
    if (!cannotFail(typed, typed.ast.root)) break;
  }
  return facts;
}

function collect(typed: Typed, root: Node, facts: RequiredFact[]): void {
  for (const term of termsOf(root, '&&')) {
    const fact = factOf(typed, term);
    if (fact !== null) facts.push(fact);
    if (!isCalm(typed, term)) return;
  }
}

/** The terms of a chain, with nested chains flattened. */
function termsOf(node: Node, operator: '&&' | '||'): readonly Node[] {
  if (node.kind !== 'logic' || node.operator !== operator) return [node];
  return node.terms.flatMap((term) => termsOf(term, operator));
}

/** The fact that one term requires; alternatives must all be about one variable. */
function factOf(typed: Typed, term: Node): RequiredFact | null {
  const alternatives = termsOf(term, '||').map((each) => simpleFact(typed, each));
  const first = alternatives[0];
  if (first === undefined || first === null) return null;
  const values: (string | number)[] = [];
  const prefixes: string[] = [];
  for (const fact of alternatives) {
    if (fact === null || fact.variable !== first.variable) return null;
    values.push(...fact.values);
    prefixes.push(...fact.prefixes);
  }
  return { variable: first.variable, values, prefixes };
}

function simpleFact(typed: Typed, node: Node): RequiredFact | null {
  if (node.kind === 'binary' && node.operator === '==') {
    return valueFact(typed, node.left, [node.right]) ?? valueFact(typed, node.right, [node.left]);
  }
  if (node.kind === 'binary' && node.operator === 'in' && node.right.kind === 'list') {
    const { elements } = node.right;
    if (elements.some((element) => element.optional)) return null;
    return valueFact(
      typed,
      node.left,
      elements.map((element) => element.node),
    );
  }
  if (
    node.kind !== 'call' ||
    node.name !== 'startsWith' ||
    node.target === undefined ||
    !isStandard(typed, node)
  ) {
    return null;
  }
  const variable = steadyVariable(typed, node.target);
  const [prefix] = node.args;
  if (variable === null || !isTextual(variable.type) || prefix?.kind !== 'literal') return null;
  return typeof prefix.value === 'string' ? { variable, values: [], prefixes: [prefix.value] } : null;
}

function valueFact(typed: Typed, left: Node, right: readonly Node[]): RequiredFact | null {
  const variable = steadyVariable(typed, left);
  if (variable === null) return null;
  const wanted = isTextual(variable.type) ? 'string' : variable.type.kind === 'int' ? 'number' : null;
  const values: (string | number)[] = [];
  for (const node of right) {
    if (wanted === null || node.kind !== 'literal' || typeof node.value !== wanted) return null;
    values.push(node.value as string | number);
  }
  return { variable, values, prefixes: [] };
}

/** Roots of variables that are always present and change only by edits. Time and action results are not. */
const STEADY = /^(?:req|res|conn|endpoint)\./;

function steadyVariable(typed: Typed, node: Node): Variable<Activation> | null {
  const meaning = typed.meanings[node.id];
  if (meaning?.means !== 'variable') return null;
  const { variable } = meaning;
  return STEADY.test(variable.name) && !variable.optional ? variable : null;
}

/** Functions without randomness that are cheap and cannot fail with arguments of the declared types. */
const HARMLESS: ReadonlySet<string> = new Set([
  '==',
  '!=',
  'in',
  'startsWith',
  'endsWith',
  'contains',
  'hasReqHeader',
  'getReqHeader',
  'hasQueryParam',
  'hasReqCookie',
]);

function isStandard(typed: Typed, node: Node): boolean {
  const meaning = typed.meanings[node.id];
  return meaning?.means === 'call' && meaning.exact;
}

/** Whether skipping a term has no visible effect except for its value: errors are allowed. */
function isCalm(typed: Typed, node: Node): boolean {
  switch (node.kind) {
    case 'literal':
    case 'name':
      return true;
    case 'select':
      return typed.meanings[node.id]?.means === 'variable' || isCalm(typed, node.operand);
    case 'has':
      return isCalm(typed, node.select.operand);
    case 'index':
      return isCalm(typed, node.operand) && isCalm(typed, node.index);
    case 'unary':
      return isCalm(typed, node.operand);
    case 'logic':
      return node.terms.every((term) => isCalm(typed, term));
    case 'list':
      return node.elements.every((element) => isCalm(typed, element.node));
    case 'binary':
      return HARMLESS.has(node.operator) && isCalm(typed, node.left) && isCalm(typed, node.right);
    case 'call':
      return (
        HARMLESS.has(node.name) &&
        (node.target === undefined || isCalm(typed, node.target)) &&
        node.args.every((argument) => isCalm(typed, argument))
      );
    case 'conditional':
    case 'map':
    case 'message':
    case 'macro':
    case 'bind':
      return false;
  }
}

/** Whether a node always evaluates to a value of its declared type, cheaply and without randomness. */
function cannotFail(typed: Typed, node: Node): boolean {
  switch (node.kind) {
    case 'literal':
      return true;
    case 'name':
    case 'select':
      return steadyVariable(typed, node) !== null;
    case 'unary':
      return node.operator === '!' && isBool(typed, node.operand) && cannotFail(typed, node.operand);
    case 'logic':
      return node.terms.every((term) => isBool(typed, term) && cannotFail(typed, term));
    case 'list':
      return node.elements.every((element) => !element.optional && cannotFail(typed, element.node));
    case 'binary':
      return isHarmlessCall(typed, node, node.operator, [node.left, node.right]);
    case 'call': {
      const args = typed.meanings[node.id];
      return args?.means === 'call' && isHarmlessCall(typed, node, node.name, args.args);
    }
    case 'has':
    case 'index':
    case 'conditional':
    case 'map':
    case 'message':
    case 'macro':
    case 'bind':
      return false;
  }
}

function isHarmlessCall(typed: Typed, node: Node, name: string, args: readonly Node[]): boolean {
  return (
    HARMLESS.has(name) && isStandard(typed, node) && args.every((argument) => cannotFail(typed, argument))
  );
}

function isBool(typed: Typed, node: Node): boolean {
  return typed.types[node.id]?.kind === 'bool';
}
