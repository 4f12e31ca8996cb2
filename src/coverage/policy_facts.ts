import { weakMemoize } from '../caches/weak_memoize.ts';
import type { Node } from '../cel/ast.ts';
import { scopeFor } from '../policy/env/scopes.ts';
import { type Program, compile } from '../cel/program.ts';
import { BOOL } from '../cel/types.ts';
import type { Activation } from '../policy/env/activation.ts';
import type { Action, PolicyDocument, Rule } from '../policy/document/document.ts';
import { whenEnds } from '../filters/facts.ts';
import { isGuard } from '../filters/gates.ts';
import { type Phase, scopePhase } from '../filters/phase.ts';
import { ACTION_FACTS } from '../filters/table.ts';
import { codeOfEnd } from '../policy/verdicts.ts';
import { looseSource } from '../policy/loose_path.ts';
import { type RequiredFact, requiredFacts } from '../policy/rule_facts.ts';

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

/** Whether an action logs users in: on its reserved paths it runs before everything else in the policy. */
export function isLogin({ type }: Action): boolean {
  return ACTION_FACTS.get(type)!.login === true;
}

export function hasLogin({ actions }: Rule): boolean {
  return actions.some(isLogin);
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
  // On the reserved paths of its login it applies whatever its expressions say.
  if (hasLogin(rule)) return null;
  if (rule.expressions.some(({ text }) => text.trim() === 'false'))
    return 'one of its expressions is always false';
  const clash = firstContradiction(rule);
  if (clash !== null) return clash.message;
  const always = alwaysBefore(rule, policy, labelOf);
  if (always !== null) return always;
  const enders = endersBefore(rule, policy);
  if (enders.length === 0) return null;
  const own = factsOf(rule).required;
  const lastChange = lastChangeBefore(rule, policy);
  for (const earlier of enders) {
    if (earlier.index < lastChange) continue;
    if (own.every((facts, reading) => takesAll(earlier, facts, reading)))
      return `rule ${labelOf(earlier)} before it takes all of its requests`;
  }
  return null;
}

/** The index of the last rule before another one that may change the request; -1 if none does. */
function lastChangeBefore({ phase, index }: Rule, { phases }: PolicyDocument): number {
  return phases[phase]
    .slice(0, index)
    .findLastIndex(({ actions }) => actions.some(({ type }) => !ACTION_FACTS.get(type)!.leavesRequest));
}

/**
 * Whether a rule applies whenever these facts are true for the path itself (0), or for a more lenient reading of it
 * (1).
 */
function takesAll(rule: Rule, facts: readonly RequiredFact[], reading: number): boolean {
  const { exact, isPathless } = factsOf(rule);
  // A rule that is used as written may not apply to a path that only has a lenient reading.
  const wanted = exact[isPathless ? 0 : reading];
  return wanted?.every((fact) => facts.some((own) => isWithin(own, fact))) === true;
}

/** What a rule needs, by the reading of the path. */
interface RuleFacts {
  readonly required: readonly (readonly RequiredFact[])[];
  /** Null for a reading with other conditions. */
  readonly exact: readonly (readonly RequiredFact[] | null)[];
  /** Whether no expression reads the path. */
  readonly isPathless: boolean;
}

/** Each rule is compared with all after it. */
const factsOf = weakMemoize((rule: Rule): RuleFacts => {
  const readings = readingsOf(rule);
  return {
    required: readings.map((programs) => requiredFacts(programs)),
    exact: readings.map((programs) => exactFacts(rule, programs)),
    isPathless: readings[0]!.every((program) => looseSource(program) === 'nothing'),
  };
});

/** An earlier rule that ends the phase for every exchange. */
export function alwaysBefore(
  rule: Rule,
  policy: PolicyDocument,
  labelOf: (rule: Rule) => string,
): string | null {
  const always = endersBefore(rule, policy).find((earlier) => isUnconditional(earlier));
  return always === undefined ? null : `rule ${labelOf(always)} before it always decides`;
}

/**
 * Earlier rules that end the phase whenever they apply. On the reserved paths of a login the policy begins at its action,
 * so that rules before it, and its own, precede only what comes before the login.
 */
function endersBefore(rule: Rule, { phases }: PolicyDocument): Rule[] {
  const inPhase = phases[rule.phase];
  const login = inPhase.findIndex(hasLogin);
  const from = login < 0 || rule.index < login ? 0 : login + 1;
  return inPhase
    .slice(from, rule.index)
    .filter(({ actions }) => actions.some((action) => endingsOf(action).always));
}

/**
 * The first expression of a rule that contradicts earlier ones, in every reading of the path. Values of one exchange do
 * not change between the expressions of one rule.
 */
export const firstContradiction = weakMemoize((rule: Rule): Contradiction | null => {
  const found = readingsOf(rule).map((programs) => {
    if (programs.length < rule.expressions.length) return null;
    for (let at = 0; at < programs.length; at++) {
      const message = contradictionOf(requiredFacts(programs.slice(0, at + 1)));
      if (message !== null) return { at, message };
    }
    return null;
  });
  const [first] = found;
  if (first === null || first === undefined || found.includes(null)) return null;
  return { ...first, at: Math.max(...found.map((each) => each!.at)) };
});

interface Contradiction {
  readonly at: number;
  readonly message: string;
}

/**
 * The expressions of a rule, and in a rule that guards by the path also those that are asked of other readings of it
 * (`policy/loose_path.ts`).
 */
function readingsOf(rule: Rule): readonly (readonly Program<Activation>[])[] {
  const plain = programsOf(rule.expressions, rule.phase);
  if (!rule.actions.some(({ type, config }) => isGuard(ACTION_FACTS.get(type)!, config))) return [plain];
  const sources = plain.map((program) => looseSource(program));
  if (sources.includes('literal') || sources.every((source) => source === 'nothing')) return [plain];
  const texts = sources.map((found, at) => ({
    text: typeof found === 'object' ? found.source : plain[at]!.source,
  }));
  const loose = programsOf(texts, rule.phase);
  return loose.length < texts.length ? [plain] : [plain, loose];
}

function programsOf(expressions: readonly { readonly text: string }[], phase: Phase): Program<Activation>[] {
  const scope = scopeFor(scopePhase(phase));
  return expressions.flatMap(({ text }) => compile(text, scope, { wants: BOOL }).program ?? []);
}

/** The facts of a rule that has no other conditions; null for any other rule. */
function exactFacts(rule: Rule, programs: readonly Program<Activation>[]): readonly RequiredFact[] | null {
  if (rule.phase === 'on_event_stream_message' || programs.length < rule.expressions.length) return null;
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
