import { type Node, childrenOf } from '../cel/ast.ts';
import { parse } from '../cel/program.ts';
import { ACTION_FACTS, LEGACY_TYPES, MODULE_FACTS } from '../filters/table.ts';
import type { Part, PolicyRule } from './parts.ts';

/**
 * The expected cost of a part from its configuration alone, in ns on current hardware. It helps to find
 * expensive parts before anything runs, and is reported beside the measured cost. A difference between the two
 * means that the cost depends on data, not on form.
 */
export function estimateOf({ kind, name, own }: Part): number {
  if (kind === 'module') return MODULE_FACTS.get(name)!.costNs;
  const { expressions = [], actions } = own as PolicyRule;
  const conditions = expressions.reduce((sum, expression) => sum + estimateOfExpression(expression), 0);
  const acted = actions.reduce(
    (sum, { type }) => sum + (ACTION_FACTS.get(LEGACY_TYPES.get(type) ?? type)?.costNs ?? 0),
    0,
  );
  // Conditions are evaluated for every request, actions only for requests that match.
  return RULE_NS + conditions + acted / 4;
}

/** The expected cost of one expression in ns; 0 for an expression that cannot be parsed. */
export function estimateOfExpression(source: string): number {
  const parsed = parse(source);
  return 'ast' in parsed ? costOf(parsed.ast.root) : 0;
}

const RULE_NS = 8;

// table: ns of calls that take more than a comparison, by name
const CALL_NS: Readonly<Record<string, number>> = {
  matches: 250,
  inCidrRange: 25,
  inCidrRanges: 40,
  split: 120,
  replace: 120,
  format: 200,
  lowerAscii: 40,
  upperAscii: 40,
  hasHeader: 20,
  getHeader: 20,
};
const OTHER_CALL_NS = 12;
const NODE_NS = 3;
/** Assumed number of elements of a list whose size is not known from the text. */
const USUAL_ELEMENTS = 8;

function costOf(node: Node): number {
  const inside = childrenOf(node).reduce((sum, child) => sum + costOf(child), 0);
  if (node.kind === 'literal') return 0;
  if (node.kind === 'call') return inside + (CALL_NS[node.name] ?? OTHER_CALL_NS);
  return node.kind === 'macro' ? inside * USUAL_ELEMENTS : inside + NODE_NS;
}
