import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { didYouMean, quoted, shown } from '../../diagnostics/message_text.ts';
import { suggest } from '../../diagnostics/suggest.ts';
import type { Phase } from '../../filters/phase.ts';
import { type Entries, isEntries } from './config.ts';
import type { Repair, Report } from './findings.ts';
import { listed } from './message_text.ts';
import type { PolicyText } from './policy_text.ts';
import { asItem, quoteAsWritten, renameKey, replaceValue } from './repairs.ts';
import type { PolicySetting } from './setting.ts';
import { type Steps, PARTS_OF_STEP } from '../../config_file/steps.ts';
import { quotedScalar } from '../../config_file/quoted_scalar.ts';

/** A rule of the document whose parts are not checked yet. */
export interface RawRule {
  readonly phase: Phase;
  readonly index: number;
  readonly pointer: string;
  readonly name: string | null;
  /** The strings of its conditions with their pointers. */
  readonly expressions: readonly { readonly text: string; readonly pointer: string }[];
  readonly actions: readonly { readonly value: Entries; readonly pointer: string }[];
}

/** A document while its form is read. */
export interface Reading {
  readonly policy: PolicyText;
  readonly setting: PolicySetting;
  readonly report: Report;
}

/** The rules of a phase; errors of their form are reported. */
export function* readRules(
  reading: Reading,
  phase: Phase,
  given: unknown,
  pointer: string,
): Steps<RawRule[]> {
  const { policy, report } = reading;
  if (given === null || typeof given === 'symbol') return [];
  if (!Array.isArray(given)) {
    const isRule =
      isEntries(given) && ['actions', 'expressions', 'type'].some((key) => Object.hasOwn(given, key));
    report(2236, pointer, `'${phase}' has to be a list of rules, not ${shown(given)}`, {
      at: isRule ? 'key' : 'value',
      hint: isRule ? 'put a dash before the rule' : undefined,
      fix: isRule ? asItem(policy, pointer) : undefined,
    });
    return [];
  }
  const rules: RawRule[] = [];
  for (const [index, rule] of given.entries()) {
    if (index % PARTS_OF_STEP === PARTS_OF_STEP - 1) yield;
    const at = pointerTo(pointer, index);
    if (isEntries(rule))
      rules.push(readRule({ policy, setting: reading.setting, report }, phase, index, rule, at));
    else if (typeof rule !== 'symbol') {
      report(2236, at, `a rule has to be a map with a list of actions, not ${shown(rule)}`);
    }
  }
  return rules;
}

const RULE_KEYS = ['name', 'expressions', 'actions'];

function readRule(reading: Reading, phase: Phase, index: number, rule: Entries, pointer: string): RawRule {
  const { policy, report } = reading;
  const isAction = typeof rule['type'] === 'string' && !Object.hasOwn(rule, 'actions');
  if (isAction) {
    report(2236, pointer, `an action is in the place of a rule`, {
      hint: 'put it into the actions of a rule: - actions: [ … ]',
      span: policy.keySpanOf(pointerTo(pointer, 'type')),
    });
  } else {
    for (const key of Object.keys(rule)) {
      if (!RULE_KEYS.includes(key)) reportUnknownRuleKey(reading, key, pointerTo(pointer, key));
    }
  }
  return {
    phase,
    index,
    pointer,
    name: readName(reading, rule['name'], pointerTo(pointer, 'name')),
    expressions: readExpressions(reading, rule['expressions'], pointerTo(pointer, 'expressions')),
    actions: isAction ? [] : readActions(reading, rule, pointer),
  };
}

function reportUnknownRuleKey({ policy, report }: Reading, key: string, pointer: string): void {
  const meant = suggest(key, RULE_KEYS) ?? (key === 'expression' || key === 'if' ? 'expressions' : undefined);
  report(2236, pointer, `unknown key ${quoted(key)} in a rule`, {
    at: 'key',
    hint: didYouMean(meant),
    notes: [`keys of a rule: ${listed(RULE_KEYS)}`],
    fix: meant === undefined ? undefined : renameKey(policy, pointer, meant, false),
  });
}

function readName({ report }: Reading, given: unknown, pointer: string): string | null {
  if (given === undefined || given === null || typeof given === 'symbol') return null;
  if (typeof given === 'string' || typeof given === 'number') return String(given);
  report(2236, pointer, `the name of a rule has to be a string, not ${shown(given)}`);
  return null;
}

function readExpressions(reading: Reading, given: unknown, pointer: string): RawRule['expressions'] {
  const { policy, report } = reading;
  if (given === undefined || given === null || typeof given === 'symbol') return [];
  if (!Array.isArray(given)) {
    const isText = typeof given === 'string';
    report(2236, pointer, `'expressions' has to be a list of strings, not ${shown(given)}`, {
      hint: isText ? 'put it in brackets: [ … ]' : 'write each expression after a dash',
      fix: isText ? bracket(policy, pointer, given) : undefined,
    });
    return isText ? [{ text: given, pointer }] : [];
  }
  const expressions: { text: string; pointer: string }[] = [];
  for (const [index, item] of given.entries()) {
    const at = pointerTo(pointer, index);
    if (typeof item === 'string') expressions.push({ text: item, pointer: at });
    else if (typeof item !== 'symbol') reportNoExpression(reading, item, at);
  }
  return expressions;
}

/**
 * Converts a single expression to a list; plain ones have commas and brackets, which have another meaning
 * inside a list.
 */
function bracket(policy: PolicyText, pointer: string, text: string): Repair | undefined {
  const span = policy.spanOf(pointer);
  const written = span === undefined ? '' : policy.text.slice(span.start, span.end);
  const item = /^["']/.test(written) ? written : quotedScalar(text);
  return replaceValue(policy, pointer, 'make it a list', `[${item}]`, true);
}

/**
 * Reports an item that YAML parsed as something else than a string: a colon and a space turn an expression into
 * a map.
 */
function reportNoExpression({ policy, report }: Reading, item: unknown, pointer: string): void {
  const isMap = isEntries(item);
  const span = policy.spanOf(pointer);
  // Braces were written on purpose; a colon inside an expression was not.
  const isMeant = span !== undefined && /^[{[]/.test(policy.text.slice(span.start, span.end));
  report(2200, pointer, `an expression has to be a string, not ${shown(item)}`, {
    hint:
      isMap && !isMeant
        ? 'a colon followed by a space makes a map: put the whole expression in quotes'
        : 'put it in quotes',
    fix: quoteAsWritten(policy, pointer, !isMeant),
  });
}

function readActions(reading: Reading, rule: Entries, pointer: string): RawRule['actions'] {
  const { report } = reading;
  const given = rule['actions'];
  const at = pointerTo(pointer, 'actions');
  if (typeof given === 'symbol') return [];
  if (given === undefined || given === null || (Array.isArray(given) && given.length === 0)) {
    const message = 'a rule needs at least one action';
    report(2206, given === undefined ? pointer : at, message, { at: 'key', hint: 'such as - type: deny' });
    return [];
  }
  if (!Array.isArray(given)) {
    report(2236, at, `'actions' has to be a list, not ${shown(given)}`, {
      at: isEntries(given) ? 'key' : 'value',
      hint: isEntries(given) ? 'put a dash before the action' : undefined,
    });
    return [];
  }
  const actions: { value: Entries; pointer: string }[] = [];
  for (const [index, action] of given.entries()) {
    const place = pointerTo(at, index);
    if (isEntries(action)) actions.push({ value: action, pointer: place });
    else if (typeof action !== 'symbol') reportNoAction(reading, action, place);
  }
  return actions;
}

function reportNoAction({ policy, report }: Reading, action: unknown, pointer: string): void {
  const fix =
    typeof action === 'string' && /^[a-z-]+$/.test(action)
      ? replaceValue(policy, pointer, 'make it a map', `{ type: ${action} }`, true)
      : undefined;
  report(2236, pointer, `an action has to be a map with a type, not ${shown(action)}`, {
    hint: typeof action === 'string' ? `write type: ${action}` : undefined,
    fix,
  });
}
