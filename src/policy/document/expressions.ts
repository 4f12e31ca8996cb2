import type { Diagnostic, Span } from '../../diagnostics/diagnostic.ts';
import type { Node } from '../../cel/ast.ts';
import { compile, parse } from '../../cel/program.ts';
import type { Scope } from '../../cel/scope.ts';
import { BOOL } from '../../cel/types.ts';
import type { Activation } from '../env/activation.ts';
import { scopeFor } from '../env/scopes.ts';
import { compileTemplate } from '../env/template.ts';
import type { FieldScope } from '../../filters/action_fields_schema.ts';
import { checkedCondition, compiledCondition } from '../../filters/evaluators.ts';
import { type Phase, scopePhase } from '../../filters/phase.ts';
import type { EngineText } from './checking.ts';
import type { Findings, Repair } from './findings.ts';
import { type PolicyText, mapIn } from './policy_text.ts';
import { replaceWithin } from './repairs.ts';
import type { PolicySetting } from './setting.ts';

/** The tree of an expression in a string, and its start there. */
export interface Found {
  readonly root: Node;
  /** Offset to add to the spans of its nodes to get offsets in the string. */
  readonly start: number;
}

/** The state of the check of one string. */
export interface Looking {
  readonly policy: PolicyText;
  readonly setting: PolicySetting;
  readonly findings: Findings;
  readonly phase: Phase;
}

const INVALID_EXPRESSION = 2200;
const INVALID_TEMPLATE = 2224;

function scopeOf({ phase, setting }: Looking, own?: FieldScope): Scope<Activation> {
  return scopeFor(own ?? scopePhase(phase), { service: setting.branding.service });
}

interface Condition {
  readonly text: string;
  readonly pointer: string;
}

/** Checks the conditions of a rule. Returns the valid ones with their trees. */
export function checkConditions(
  looking: Looking,
  conditions: readonly Condition[],
): (Condition & { readonly found: readonly Found[] })[] {
  const scope = scopeOf(looking);
  const compiled = looking.setting.isCheckOnly === true ? checkedCondition : compiledCondition;
  const checked: (Condition & { readonly found: readonly Found[] })[] = [];
  for (const [index, { text, pointer }] of conditions.entries()) {
    const { program, diagnostics } = compiled(text, scope);
    const told = diagnostics.filter((one) => !isGuarded(one, conditions.slice(0, index), text, scope));
    tell(looking, INVALID_EXPRESSION, pointer, text, told);
    const found = program === undefined ? [] : [{ root: program.typed.ast.root, start: 0 }];
    checked.push({ text, pointer, found });
  }
  return checked;
}

/** Maximum number of conditions before a read that are searched for a guard. */
const GUARD_LIMIT = 8;

/** Whether an earlier condition guards a read, because the rule would not apply without what it reads. */
function isGuarded(
  { code, span }: Diagnostic,
  before: readonly Condition[],
  text: string,
  scope: Scope<Activation>,
): boolean {
  if (code !== 'expr.may_be_missing' || span === undefined || before.length === 0) return false;
  const opening = before
    .slice(-GUARD_LIMIT)
    .map((condition) => `(${condition.text}\n) && `)
    .join('');
  const { diagnostics } = compile(`${opening}size([${text.slice(span.start, span.end)}\n]) == 1`, scope);
  return !diagnostics.some((one) => one.code === code && (one.span?.start ?? 0) > opening.length);
}

/** Checks a string of an action's config, under the conditions of its rule. Returns the trees of its expressions if all are valid. */
export function checkText(
  looking: Looking,
  { reads, text, pointer, shape }: EngineText,
  conditions: readonly Condition[],
): Found[] {
  const unguarded = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
    diagnostics.filter((one) => !isGuarded(one, conditions, text, scope));
  const own = shape.scope === 'strategy' ? undefined : shape.scope;
  const scope = scopeOf(looking, own);
  if (shape.scope === 'strategy') {
    const parsed = parse(text, scope.functions);
    if ('diagnostic' in parsed) tell(looking, INVALID_EXPRESSION, pointer, text, [parsed.diagnostic]);
    return [];
  }
  if (reads === 'expression') {
    const options = shape.condition === true ? { wants: BOOL } : {};
    const { program, diagnostics } = compile(text, scope, options);
    tell(looking, INVALID_EXPRESSION, pointer, text, unguarded(diagnostics));
    return program === undefined ? [] : [{ root: program.typed.ast.root, start: 0 }];
  }
  if (!/\$|\{\{/.test(text)) return [];
  const { template, diagnostics } = compileTemplate(text, scope, {
    service: looking.setting.branding.service,
  });
  tell(looking, INVALID_TEMPLATE, pointer, text, unguarded(diagnostics));
  return (template?.parts ?? []).flatMap((part) =>
    part.kind === 'expression' ? [{ root: part.program.typed.ast.root, start: part.start }] : [],
  );
}

function tell(
  { policy, findings, setting }: Looking,
  number: number,
  pointer: string,
  text: string,
  diagnostics: readonly Diagnostic[],
): void {
  for (const one of diagnostics) {
    const isError = one.severity === 'error';
    const fix = bareRepair(policy, number, pointer, text, one) ?? repairOf(policy, pointer, text, one);
    findings.add(
      isError ? setting.branding.errorCode(number) : one.code,
      one.severity,
      pointer,
      one.message,
      {
        hint: fix?.message === BARE ? 'an expression is written without ${ and } here' : one.hint,
        notes: [...(one.notes ?? []), ...(isError ? [`see also ${one.code}`] : [])],
        fix,
        ...placeOf(policy, pointer, text, one.span),
      },
    );
  }
}

/** A span of the text; an empty one marks the unit before it. */
function placeOf(policy: PolicyText, pointer: string, text: string, span: Span | undefined): { span?: Span } {
  if (span === undefined) return {};
  const map = mapIn(policy, pointer, text);
  if (map === undefined) return {};
  return { span: map.spanOf(span) };
}

const BARE = 'remove ${ and }';

/** Removes `${…}` around a whole expression. */
function bareRepair(
  policy: PolicyText,
  number: number,
  pointer: string,
  text: string,
  { code, severity }: Diagnostic,
): Repair | undefined {
  const inner = /^\s*\$\{([\s\S]*)\}\s*$/.exec(text)?.[1];
  if (
    number !== INVALID_EXPRESSION ||
    severity !== 'error' ||
    code !== 'expr.syntax' ||
    inner === undefined
  ) {
    return undefined;
  }
  const whole = { start: 0, end: text.length };
  return replaceWithin(policy, pointer, text, whole, { message: BARE, text: inner.trim(), safe: true });
}

function repairOf(
  policy: PolicyText,
  pointer: string,
  text: string,
  { fix }: Diagnostic,
): Repair | undefined {
  return fix && replaceWithin(policy, pointer, text, fix.span, fix);
}
