import { type Node, childrenOf } from '../expression/ast.ts';
import { parse } from '../expression/program.ts';
import type { Part, PolicyRule } from './parts.ts';

/**
 * What a part is expected to cost by its text alone, in ns on a machine of today. It is for finding what looks dear
 * before anything runs, and stands beside what was measured: where the two part, the data decides, not the form.
 */
export function estimateOf({ kind, name, own }: Part): number {
  if (kind === 'module') return MODULE_NS[name] ?? OTHER_MODULE_NS;
  const { expressions = [], actions } = own as PolicyRule;
  const conditions = expressions.reduce((sum, expression) => sum + estimateOfExpression(expression), 0);
  const acted = actions.reduce((sum, { type }) => sum + (ACTION_NS[type] ?? OTHER_ACTION_NS), 0);
  // Conditions are asked of every request, actions run for those that they let through.
  return RULE_NS + conditions + acted / 4;
}

/** The same for one expression; 0 for one that cannot be read. */
export function estimateOfExpression(source: string): number {
  const parsed = parse(source);
  return 'ast' in parsed ? costOf(parsed.ast.root) : 0;
}

// table: ns of modules, by type
const MODULE_NS: Readonly<Record<string, number>> = {
  ip_restriction: 30,
  user_agent_filter: 650,
  webhook_verification: 9_000,
  oauth: 6_000,
  oidc: 6_000,
  saml: 6_000,
  traffic_policy: 60,
  circuit_breaker: 40,
  request_headers: 60,
  response_headers: 60,
  backend: 30,
  compression: 60,
};
const OTHER_MODULE_NS = 50;

// table: ns of actions that take more than a few stores, by type
const ACTION_NS: Readonly<Record<string, number>> = {
  'basic-auth': 1_500,
  'jwt-validation': 60_000,
  'verify-webhook': 9_000,
  'rate-limit': 200,
  'url-rewrite': 900,
  redirect: 900,
  'request-body-find-replace': 2_000,
  'response-body-find-replace': 2_000,
};
const OTHER_ACTION_NS = 80;
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
/** How many elements a list is taken to have that no text tells. */
const USUAL_ELEMENTS = 8;

function costOf(node: Node): number {
  const inside = childrenOf(node).reduce((sum, child) => sum + costOf(child), 0);
  if (node.kind === 'literal') return 0;
  if (node.kind === 'call') return inside + (CALL_NS[node.name] ?? OTHER_CALL_NS);
  return node.kind === 'macro' ? inside * USUAL_ELEMENTS : inside + NODE_NS;
}
