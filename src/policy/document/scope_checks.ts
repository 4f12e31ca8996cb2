import { type Node, childrenOf } from '../../cel/ast.ts';
import { suggest } from '../../diagnostics/suggest.ts';
import type { Span } from '../../diagnostics/diagnostic.ts';
import { didYouMean, quoted } from '../../diagnostics/message_text.ts';
import { ACTION_FACTS } from '../../filters/table.ts';
import type { Found } from './expressions.ts';
import type { Findings } from './findings.ts';
import { type PolicyText, mapIn } from './policy_text.ts';
import { listed } from './message_text.ts';

/** Names that a policy has defined at one point of its execution. */
export interface KnownNames {
  /** Variables that set-vars of this phase have set so far. */
  readonly variables: Set<string>;
  /** Variables that set-vars of this phase set anywhere; null if some could not be read. */
  readonly variablesOfPhase: ReadonlySet<string> | null;
  /** Names below `actions.<service>` of the actions so far. */
  readonly results: Set<string>;
  /** Paths tested with `has(…)` in the current rule: they may be absent. */
  readonly tested: Set<string>;
}

const RESULT_ACTIONS = new Map(
  [...ACTION_FACTS.values()].flatMap(({ result, type }) =>
    result === null ? [] : [[result.name, type] as const],
  ),
);

/** Reports variables and results that cannot exist yet: reading them is an error that stops the request. */
export function checkScope(
  policy: PolicyText,
  findings: Findings,
  service: string,
  knownNames: KnownNames,
  pointer: string,
  text: string,
  found: readonly Found[],
): void {
  for (const { root } of found) noteTested(root, knownNames.tested);
  for (const { root, start } of found) {
    visitReads(root, (path, span) => {
      const told = sayOf(path, service, knownNames);
      if (told === undefined) return;
      const place = mapIn(policy, pointer, text)?.spanOf({
        start: span.start + start,
        end: span.end + start,
      });
      findings.report(told.code, pointer, told.message, { hint: told.hint, span: place });
    });
  }
}

interface Told {
  readonly code: 'policy.unknown_variable' | 'policy.not_yet_set';
  readonly message: string;
  readonly hint?: string | undefined;
}

function sayOf(path: readonly string[], service: string, knownNames: KnownNames): Told | undefined {
  const [first, second, third] = path;
  if (knownNames.tested.has(path.slice(0, first === 'vars' ? 2 : 3).join('.'))) return undefined;
  if (first === 'vars' && second !== undefined) return sayOfVariable(second, knownNames);
  if (first !== 'actions' || second !== service || third === undefined) return undefined;
  const type = RESULT_ACTIONS.get(third);
  if (type === undefined || knownNames.results.has(third)) return undefined;
  const message = `no '${type}' can have run before this, so reading its result is an error`;
  return {
    code: 'policy.not_yet_set',
    message,
    hint: `test has(${path.slice(0, 3).join('.')}) or put ${type} first`,
  };
}

function sayOfVariable(name: string, { variables, variablesOfPhase }: KnownNames): Told | undefined {
  if (variables.has(name) || variablesOfPhase === null) return undefined;
  if (variablesOfPhase.has(name)) {
    const message = `vars.${name} is set after this, so reading it here is an error`;
    return { code: 'policy.not_yet_set', message, hint: 'move set-vars before it' };
  }
  const message = `no set-vars of this phase sets ${quoted(name)}, so reading it is an error`;
  const known = [...variablesOfPhase];
  const hint =
    didYouMean(suggest(name, known)) ??
    (known.length > 0 ? `set here: ${listed(known)}` : `set it with set-vars, or test has(vars.${name})`);
  return { code: 'policy.unknown_variable', message, hint };
}

function noteTested(node: Node, tested: Set<string>): void {
  const path = node.kind === 'has' ? pathOf(node.select) : undefined;
  if (path !== undefined) tested.add(path.slice(0, path[0] === 'vars' ? 2 : 3).join('.'));
  for (const child of childrenOf(node)) noteTested(child, tested);
}

/** Calls `visit` with the path of each plain selection that is read, not only tested with `has`. */
function visitReads(node: Node, visit: (path: readonly string[], span: Span) => void): void {
  if (node.kind === 'has') {
    visitReads(node.select.operand, visit);
    return;
  }
  const path = pathOf(node);
  if (path !== undefined) {
    visit(path, node.span);
    return;
  }
  for (const child of childrenOf(node)) visitReads(child, visit);
}

/** `a.b['c']` as names; undefined for anything else than one plain path. */
function pathOf(node: Node): string[] | undefined {
  if (node.kind === 'name') return [node.name];
  if (node.kind === 'select' && !node.optional) {
    const path = pathOf(node.operand);
    path?.push(node.field);
    return path;
  }
  if (node.kind !== 'index' || node.index.kind !== 'literal' || typeof node.index.value !== 'string')
    return undefined;
  if (node.optional) return undefined;
  const path = pathOf(node.operand);
  path?.push(node.index.value);
  return path;
}
