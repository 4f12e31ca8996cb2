import type { Diagnostic, Span } from '../../diagnostics/diagnostic.ts';
import type { Node } from '../../expression/ast.ts';
import { compile } from '../../expression/program.ts';
import type { Scope } from '../../expression/scope.ts';
import { BOOL } from '../../expression/types.ts';
import type { Activation } from '../../expression/vocabulary/activation.ts';
import { scopeFor } from '../../expression/vocabulary/scopes.ts';
import type { Place } from '../../expression/vocabulary/scopes.ts';
import { compileTemplate } from '../../expression/vocabulary/template.ts';
import type { Phase } from '../phase.ts';
import type { EngineText } from './checking.ts';
import type { Findings, Repair } from './findings.ts';
import { mapIn } from './policy_text.ts';
import type { PolicyText } from './policy_text.ts';
import { replaceWithin } from './repairs.ts';
import type { PolicySetting } from './setting.ts';

/** The tree of an expression that stands in a text, and where it begins there. */
export interface Found {
  readonly root: Node;
  /** What to add to the spans of its nodes to get offsets in the text. */
  readonly start: number;
}

/** What the look at one text works with. */
export interface Looking {
  readonly policy: PolicyText;
  readonly setting: PolicySetting;
  readonly findings: Findings;
  readonly phase: Phase;
}

const INVALID_EXPRESSION = 2200;
const INVALID_TEMPLATE = 2224;

/** The scope of a phase. Messages of an event stream belong to a response. */
function scopeOf({ phase, setting }: Looking, retry: boolean): Scope<Activation> {
  const place: Place = phase === 'on_event_stream_message' ? 'on_http_response' : phase;
  return scopeFor(retry ? 'retry_condition' : place, { service: setting.naming.service });
}

interface Condition {
  readonly text: string;
  readonly pointer: string;
}

/** Checks the conditions of a rule. Gives them with the trees of those that are sound. */
export function checkConditions(
  looking: Looking,
  conditions: readonly Condition[],
): (Condition & { readonly found: readonly Found[] })[] {
  const scope = scopeOf(looking, false);
  const checked: (Condition & { readonly found: readonly Found[] })[] = [];
  for (const [index, { text, pointer }] of conditions.entries()) {
    const { program, diagnostics } = compile(text, scope, { wants: BOOL });
    const told = diagnostics.filter((one) => !isGuarded(one, conditions.slice(0, index), text, scope));
    tell(looking, INVALID_EXPRESSION, pointer, text, told);
    const found = program === undefined ? [] : [{ root: program.typed.ast.root, start: 0 }];
    checked.push({ text, pointer, found });
  }
  return checked;
}

/** Conditions before a look-up that are searched for a guard: nobody puts it further away. */
const GUARD_LIMIT = 8;

/** Whether a header look-up is made safe by a condition before it, which this rule would have stopped at. */
function isGuarded(
  one: Diagnostic,
  before: readonly Condition[],
  text: string,
  scope: Scope<Activation>,
): boolean {
  if (one.code !== 'expr.may_be_missing' || before.length === 0) return false;
  const opening = before
    .slice(-GUARD_LIMIT)
    .map((condition) => `(${condition.text}\n) && `)
    .join('');
  const { diagnostics } = compile(`${opening}(${text}\n)`, scope);
  return !diagnostics.some(({ code, span }) => code === one.code && (span?.start ?? 0) > opening.length);
}

/** Checks a text of an action's config. Gives the trees of its expressions, when all of it is sound. */
export function checkText(looking: Looking, { reads, text, pointer, shape }: EngineText): Found[] {
  const scope = scopeOf(looking, shape.scope === 'retry');
  if (reads === 'expression') {
    const options = shape.condition === true ? { wants: BOOL } : {};
    const { program, diagnostics } = compile(text, scope, options);
    tell(looking, INVALID_EXPRESSION, pointer, text, diagnostics);
    return program === undefined ? [] : [{ root: program.typed.ast.root, start: 0 }];
  }
  if (!text.includes('${')) return [];
  const { template, diagnostics } = compileTemplate(text, scope, { service: looking.setting.naming.service });
  tell(looking, INVALID_TEMPLATE, pointer, text, diagnostics);
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
    findings.add(isError ? setting.naming.errorCode(number) : one.code, one.severity, pointer, one.says, {
      hint: fix?.says === BARE ? 'an expression stands bare here, without ${ and }' : one.hint,
      notes: [...(one.notes ?? []), ...(isError ? [`see also ${one.code}`] : [])],
      fix,
      ...placeOf(policy, pointer, text, one.span),
    });
  }
}

/** A stretch of the text; one that covers nothing marks the unit before it. */
function placeOf(policy: PolicyText, pointer: string, text: string, span: Span | undefined): { span?: Span } {
  if (span === undefined) return {};
  const map = mapIn(policy, pointer, text);
  if (map === undefined) return {};
  return { span: map.spanOf(span) };
}

const BARE = 'take ${ and } off';

/** `${…}` around the whole of a bare expression. */
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
  return replaceWithin(policy, pointer, text, whole, { says: BARE, text: inner.trim(), safe: true });
}

function repairOf(
  policy: PolicyText,
  pointer: string,
  text: string,
  { fix }: Diagnostic,
): Repair | undefined {
  return fix && replaceWithin(policy, pointer, text, fix.span, fix);
}
