import { type Diagnostic, type Source, type Span, hasErrors } from '../../diagnostics/diagnostic.ts';
import { type Phase, PHASES, SCOPE_PHASES, scopePhase } from '../../filters/phase.ts';
import { type LocatedDocument, valueAt, writtenAt } from '../../config_file/document.ts';
import { deepFreeze } from '../../config_file/freeze.ts';
import { checkAdditions } from './additions.ts';
import { isEntries } from './config.ts';
import { type ReadAction, readAction } from './actions.ts';
import { type Action, type Place, type PolicyDocument, type Rule, frozenRule } from './document.ts';
import { checkEndpoint } from './endpoint.ts';
import { type Found, type Looking, checkConditions, checkText } from './expressions.ts';
import { type Findings, findingsOf } from './findings.ts';
import { type KnownNames, checkScope } from './scope_checks.ts';
import { type ReadRule, checkWhole } from './lint.ts';
import { plainJson } from '../../config_file/plain_json.ts';
import { type PolicyText, mapInFile } from './policy_text.ts';
import { policyReading, wholeFile } from './read.ts';
import { checkSecrets } from './secrets.ts';
import { checkServiceName } from './service_names.ts';
import type { PolicySetting } from './setting.ts';
import { type Steps, PARTS_OF_STEP, atOnce, eachInSteps } from '../../config_file/steps.ts';
import { structureOf } from './structure.ts';
import { reportProblems, reportTags } from './syntax.ts';
import { identityMap, scalarMap } from './text_map.ts';

/** The result of a policy check. */
export interface CheckedPolicy {
  /** Null exactly if one of the diagnostics is an error. */
  readonly document: PolicyDocument | null;
  /** All findings, in text order. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Checks a policy file in YAML or JSON and reports all findings at once. Never throws. */
export function checkPolicy(file: Source, setting: PolicySetting): CheckedPolicy {
  return atOnce(checkSource(file.text, wholeFile(file), { ...setting, isCheckOnly: true }));
}

/** A policy in a string inside a file. */
export interface AttachedPolicy {
  /** JSON pointer of the string in the file. */
  readonly pointer: string;
  /** The decoded string. */
  readonly text: string;
  /** The file and the span of the string in it, quotes or block header included; default: the string is the file. */
  readonly inFile?: { readonly file: Source; readonly span: Span } | undefined;
}

/**
 * Checks a policy in a string of a file. Spans and fixes are in the file; pointers begin with that of the
 * string.
 */
export function checkAttachedPolicy(attached: AttachedPolicy, setting: PolicySetting): CheckedPolicy {
  const { pointer: at, text, inFile } = attached;
  if (inFile === undefined)
    return atOnce(checkSource(text, { file: { name: at, text }, toFile: identityMap(), at }, setting));
  const { file, span } = inFile;
  const toFile = file.text === text ? identityMap() : scalarMap(file.text, span, text);
  return atOnce(checkSource(text, { file, toFile, at }, setting));
}

/**
 * Checks the policy whose text is at a pointer of a document. It may be written there as text, or the text may stand for
 * a map, or for a file of its own: spans and fixes are where it is written, pointers begin with `pointer`.
 */
export function checkPolicyAt(
  document: LocatedDocument,
  pointer: string,
  text: string,
  setting: PolicySetting,
): CheckedPolicy {
  const { document: own, pointer: there } = writtenAt(document, pointer);
  const { source } = own;
  if (!isEntries(valueAt(own.value, there))) {
    const span = own.spanOf(there);
    const inFile = source !== undefined && span !== undefined ? { file: source, span } : undefined;
    return checkAttachedPolicy({ pointer, text, inFile }, setting);
  }
  const policy: PolicyText = {
    text: source?.text ?? '',
    value: JSON.parse(text),
    spanOf: (inside) => own.spanOf(there + inside),
    keySpanOf: (inside) => own.keySpanOf(there + inside),
    bangs: new Set(),
    maps: new Map(),
    file: source,
    toFile: identityMap(),
    at: pointer,
  };
  return atOnce(checkRead(policy, setting, findingsOf(policy, setting.branding)));
}

/**
 * Checks a policy in a string. Findings in JSON have pointers but no spans, which takes a small part of the time; other
 * texts are checked like `checkAttachedPolicy`.
 */
export function checkPolicyText(attached: PolicyString, setting: PolicySetting): CheckedPolicy {
  return atOnce(policyCheck(attached, setting));
}

type PolicyString = Pick<AttachedPolicy, 'pointer' | 'text'>;

/** `checkPolicyText` with pauses. `value` is the text as plain JSON, if it is known. */
export function* policyCheck(
  { pointer, text }: PolicyString,
  setting: PolicySetting,
  value = plainJson(text),
): Steps<CheckedPolicy> {
  return yield* value === null
    ? checkSource(text, { file: { name: pointer, text }, toFile: identityMap(), at: pointer }, setting)
    : checkValue(value, setting, pointer);
}

/** Checks a policy given as an object: findings have pointers, which begin with `at`, but no spans. */
export function checkPolicyValue(value: unknown, setting: PolicySetting, at = ''): CheckedPolicy {
  return atOnce(checkValue(value, setting, at));
}

function checkValue(value: unknown, setting: PolicySetting, at: string): Steps<CheckedPolicy> {
  const policy: PolicyText = {
    text: '',
    value,
    spanOf: nowhere,
    keySpanOf: nowhere,
    bangs: new Set(),
    maps: new Map(),
    file: undefined,
    toFile: identityMap(),
    at,
  };
  return checkRead(policy, setting, findingsOf(policy, setting.branding));
}

function nowhere(): undefined {
  return undefined;
}

function* checkSource(
  text: string,
  place: Parameters<typeof policyReading>[1],
  setting: PolicySetting,
): Steps<CheckedPolicy> {
  const { policy, isRead, problems } = yield* policyReading(text, place);
  const findings = findingsOf(policy, setting.branding);
  reportProblems(policy, findings.report, problems);
  return isRead
    ? yield* checkRead(policy, setting, findings)
    : { document: null, diagnostics: findings.list };
}

function* checkRead(policy: PolicyText, setting: PolicySetting, findings: Findings): Steps<CheckedPolicy> {
  const { report } = findings;
  const structure = yield* structureOf({ policy, setting, report });
  if (structure === null) return { document: null, diagnostics: findings.list };
  const renamed = new Map<string, string>();
  const rules: ReadRule[] = [];
  for (const rule of structure.rules) {
    const read: ReadRule['read'][number][] = [];
    yield* eachInSteps(rule.actions, ({ value, pointer }) =>
      read.push(readAction({ policy, setting, report, renamed }, rule.phase, value, pointer)),
    );
    if (rules.push({ ...rule, read }) % PARTS_OF_STEP === 0) yield;
  }
  reportTags(policy, report, rules);
  yield* checkExpressions(policy, setting, findings, rules);
  yield* checkWhole(policy, rules, report);
  checkEndpoint(setting, rules, report);
  checkServiceName(policy, setting.branding.service, report);
  const diagnostics = findings.list.toSorted(
    (one, other) => (one.span?.start ?? 0) - (other.span?.start ?? 0),
  );
  if (hasErrors(diagnostics)) return { document: null, diagnostics };
  return { document: yield* documentOf(policy, structure.enabled, rules, renamed), diagnostics };
}

/** Visits the policy in execution order and checks every expression with what is known at that point. */
function* checkExpressions(
  policy: PolicyText,
  setting: PolicySetting,
  findings: Findings,
  rules: readonly ReadRule[],
): Steps<void> {
  const results = new Set<string>();
  for (const scope of SCOPE_PHASES) {
    const own = PHASES.filter((phase) => scopePhase(phase) === scope).flatMap((phase) =>
      rules.filter((rule) => rule.phase === phase),
    );
    const known = { variables: new Set<string>(), variablesOfPhase: variablesOf(own), results };
    for (const [index, rule] of own.entries()) {
      if (index % PARTS_OF_STEP === PARTS_OF_STEP - 1) yield;
      const looking = { policy, setting, findings, phase: rule.phase };
      yield* checkRuleExpressions(looking, rule, { ...known, tested: new Set() });
    }
  }
}

function* checkRuleExpressions(looking: Looking, rule: ReadRule, knownNames: KnownNames): Steps<void> {
  const { policy, findings, setting } = looking;
  const check = (pointer: string, text: string, found: readonly Found[]): void => {
    checkScope(policy, findings, setting.branding.service, knownNames, pointer, text, found);
    if (setting.strict === true) checkAdditions(policy, findings, pointer, text, found);
    if (setting.secrets !== undefined) checkSecrets(policy, findings, setting.secrets, pointer, text, found);
  };
  for (const { pointer, text, found } of checkConditions(looking, rule.expressions))
    check(pointer, text, found);
  yield* eachInSteps(rule.read, (action) => {
    if (action === undefined) return;
    for (const text of action.texts) {
      check(text.pointer, text.text, checkText(looking, text, rule.expressions));
      if (action.facts.sets !== undefined) knownNames.variables.add(nameOfVariable(action, text.pointer));
    }
    for (const name of namesSetBy(action) ?? []) knownNames.variables.add(name);
    if (action.facts.result !== null) knownNames.results.add(action.facts.result.name);
  });
}

function variablesOf(rules: readonly ReadRule[]): Set<string> | null {
  const known = rules
    .flatMap(({ read }) => read)
    .map((action) => (action === undefined ? null : namesSetBy(action)));
  return known.includes(null) ? null : new Set(known.flatMap((names) => names!));
}

/** The variables that an action sets; null if some cannot be known. */
function namesSetBy({ facts, config }: ReadAction): readonly string[] | null {
  return facts.sets === undefined ? [] : facts.sets(config as never);
}

/** The variable of set-vars that a string belongs to: it is known only to later entries. */
function nameOfVariable({ pointer }: ReadAction, text: string): string {
  const name = text.slice(`${pointer}/config/vars/`.length).split('/')[1] ?? '';
  return name.replaceAll('~1', '/').replaceAll('~0', '~');
}

function* documentOf(
  policy: PolicyText,
  enabled: boolean,
  rules: readonly ReadRule[],
  renamed: ReadonlyMap<string, string>,
): Steps<PolicyDocument> {
  const phases = Object.fromEntries(PHASES.map((phase) => [phase, []])) as unknown as Record<Phase, Rule[]>;
  yield* eachInSteps(rules, (rule) => {
    const own = phases[rule.phase];
    own.push(ruleOf(policy, rule, own.length));
  });
  for (const own of Object.values(phases)) Object.freeze(own);
  const placeOf = (pointer: string, text?: string): Place | undefined => {
    const inside = pointer.slice(policy.at.length);
    const written = writtenPointer(inside, renamed);
    const span = policy.file && policy.spanOf(written);
    if (span === undefined) return undefined;
    const map = text === undefined ? undefined : mapInFile(policy, written, text);
    return { span: policy.toFile.spanOf(span), ...(map && { map }) };
  };
  // A text without a file is named by its pointer.
  const source = policy.file?.name === policy.at ? undefined : policy.file;
  // The compiler and the analysis take parts of it as they are, so parts must not change.
  return Object.freeze({ source, enabled, phases: Object.freeze(phases), placeOf });
}

/** The pointer with the names used in the document. */
function writtenPointer(pointer: string, renamed: ReadonlyMap<string, string>): string {
  if (renamed.size === 0) return pointer;
  let written = '';
  for (const token of pointer.split('/').slice(1)) {
    const next = `${written}/${token}`;
    written = renamed.get(next) ?? next;
  }
  return written;
}

function ruleOf(policy: PolicyText, rule: ReadRule, index: number): Rule {
  const { phase, pointer, name, expressions, read } = rule;
  return frozenRule({
    phase,
    index,
    name,
    pointer: policy.at + pointer,
    expressions: expressions.map(({ text, pointer: at }) => ({ text, pointer: policy.at + at })),
    actions: read.map((action) => {
      const { facts, config, pointer: at } = action!;
      return { type: facts.type, config: deepFreeze(config), pointer: policy.at + at } as unknown as Action;
    }),
  });
}
