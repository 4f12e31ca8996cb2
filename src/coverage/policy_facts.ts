import type { Node } from '../cel/ast.ts';
import { scopeFor } from '../policy/env/scopes.ts';
import { compile } from '../cel/program.ts';
import { BOOL } from '../cel/types.ts';
import type { Activation } from '../policy/env/activation.ts';
import type { Program } from '../cel/program.ts';
import type { Action, PolicyDocument, Rule } from '../policy/document/document.ts';
import { whenEnds } from '../filters/facts.ts';
import type { Phase } from '../filters/phase.ts';
import { ACTION_FACTS } from '../filters/table.ts';
import { codeOfEnd } from '../policy/verdicts.ts';
import type { RequiredFact } from '../policy/rule_facts.ts';
import { requiredFacts } from '../policy/rule_facts.ts';

/** How an action can end a phase: codes of the policy, and whether it always does. */
interface Endings {
  readonly codes: ReadonlySet<string>;
  readonly always: boolean;
}

export function endingsOf({ type, config }: Action): Endings {
  const facts = ACTION_FACTS.get(type)!;
  const when = whenEnds(facts, config);
  const codes = when === 'never' ? [] : facts.ends.how.map((end) => codeOfEnd(end));
  return { codes: new Set(codes), always: when === 'always' };
}

/** Whether a rule applies to every exchange that reaches it. */
export function isUnconditional(rule: Rule): boolean {
  if (rule.phase === 'on_event_stream_message') return false;
  return rule.expressions.every(({ text }) => text.trim() === 'true');
}

/**
 * Why a rule never applies: an earlier rule of its phase takes all of its requests, or its own expressions
 * contradict each other. Null if this cannot be determined.
 */
export function whatShadows(
  rule: Rule,
  policy: PolicyDocument,
  labelOf: (rule: Rule) => string,
): string | null {
  if (rule.expressions.some(({ text }) => text.trim() === 'false'))
    return 'one of its expressions is always false';
  const facts = requiredFacts(programsOf(rule));
  const clash = contradictionOf(facts);
  if (clash !== null) return clash;
  const always = alwaysBefore(rule, policy, labelOf);
  if (always !== null) return always;
  const inPhase = policy.phases[rule.phase];
  for (const [index, earlier] of inPhase.slice(0, rule.index).entries()) {
    if (!earlier.actions.some((action) => endingsOf(action).always)) continue;
    const between = inPhase.slice(index + 1, rule.index).flatMap(({ actions }) => actions);
    if (!between.every(({ type }) => ACTION_FACTS.get(type)!.leavesRequest)) continue;
    const wanted = exactFacts(earlier);
    if (wanted?.every((fact) => facts.some((own) => isWithin(own, fact))) === true)
      return `rule ${labelOf(earlier)} before it takes all of its requests`;
  }
  return null;
}

/** An earlier rule that ends the phase for every exchange. */
export function alwaysBefore(
  rule: Rule,
  { phases }: PolicyDocument,
  labelOf: (rule: Rule) => string,
): string | null {
  const always = phases[rule.phase]
    .slice(0, rule.index)
    .find(
      (earlier) => isUnconditional(earlier) && earlier.actions.some((action) => endingsOf(action).always),
    );
  return always === undefined ? null : `rule ${labelOf(always)} before it always decides`;
}

/** The first expression of a rule that contradicts earlier ones. */
export function firstContradiction(rule: Rule): { readonly at: number; readonly message: string } | null {
  const programs = programsOf(rule);
  if (programs.length < rule.expressions.length) return null;
  for (let at = 0; at < programs.length; at++) {
    const message = contradictionOf(requiredFacts(programs.slice(0, at + 1)));
    if (message !== null) return { at, message };
  }
  return null;
}

function programsOf({ expressions, phase }: Rule): Program<Activation>[] {
  const scope = scopeFor(SCOPES[phase]);
  return expressions.flatMap(({ text }) => compile(text, scope, { wants: BOOL }).program ?? []);
}

const SCOPES = {
  on_tcp_connect: 'on_tcp_connect',
  on_http_request: 'on_http_request',
  on_http_response: 'on_http_response',
  on_event_stream_message: 'on_http_response',
} as const satisfies Readonly<Record<Phase, string>>;

/** The facts of a rule that has no other conditions; null for any other rule. */
function exactFacts(rule: Rule): readonly RequiredFact[] | null {
  const programs = programsOf(rule);
  if (programs.length < rule.expressions.length) return null;
  const facts: RequiredFact[] = [];
  for (const program of programs) {
    const own = requiredFacts([program]);
    if (own.length !== termCount(program.typed.ast.root)) return null;
    facts.push(...own);
  }
  return facts;
}

function termCount(node: Node): number {
  if (node.kind !== 'logic' || node.operator !== '&&') return 1;
  return node.terms.reduce((sum, term) => sum + termCount(term), 0);
}

/** Whether every value with one fact also has the other. */
function isWithin(inner: RequiredFact, outer: RequiredFact): boolean {
  if (inner.variable.name !== outer.variable.name) return false;
  const holds = (text: string | number) =>
    outer.values.includes(text) || outer.prefixes.some((prefix) => String(text).startsWith(prefix));
  return (
    inner.values.every((value) => holds(value)) &&
    inner.prefixes.every((prefix) => outer.prefixes.some((other) => prefix.startsWith(other)))
  );
}

/** Two facts of one variable that exclude each other. */
function contradictionOf(facts: readonly RequiredFact[]): string | null {
  for (const [index, fact] of facts.entries()) {
    const clash = facts
      .slice(index + 1)
      .find((other) => other.variable.name === fact.variable.name && !canBoth(fact, other));
    if (clash !== undefined) {
      const [one, other] = [fact, clash].map((each) => shownFact(each));
      return `its expressions contradict each other: ${fact.variable.name} would have to be ${one} and ${other}`;
    }
  }
  return null;
}

function isMet(value: string | number, { values, prefixes }: RequiredFact): boolean {
  return values.includes(value) || prefixes.some((prefix) => String(value).startsWith(prefix));
}

function canBoth(one: RequiredFact, other: RequiredFact): boolean {
  return (
    one.values.some((value) => isMet(value, other)) ||
    other.values.some((value) => isMet(value, one)) ||
    one.prefixes.some((prefix) =>
      other.prefixes.some((second) => prefix.startsWith(second) || second.startsWith(prefix)),
    )
  );
}

function shownFact({ values, prefixes }: RequiredFact): string {
  return [...values.map((value) => String(value)), ...prefixes.map((prefix) => `${prefix}…`)].join(' or ');
}
