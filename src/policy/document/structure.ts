import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { suggest } from '../../diagnostics/suggest.ts';
import { didYouMean, quoted, shown } from '../../diagnostics/message_text.ts';
import { type Phase, LEGACY_PHASES, PHASES } from '../../filters/phase.ts';
import { type Entries, isEntries } from './config.ts';
import type { PolicySetting } from './setting.ts';
import type { Repair, Report } from './findings.ts';
import type { PolicyText } from './policy_text.ts';
import { quotedScalar } from './text_map.ts';
import { quoteAsWritten, removeLine, renameKey, replaceValue } from './repairs.ts';
import { listed } from './message_text.ts';

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

export interface Structure {
  readonly enabled: boolean;
  readonly rules: readonly RawRule[];
}

interface Reading {
  readonly policy: PolicyText;
  readonly setting: PolicySetting;
  readonly report: Report;
}

/** Finds the phases and rules of a document and reports errors of their form. */
export function structureOf(reading: Reading): Structure | null {
  const { policy, report } = reading;
  const { value } = policy;
  if (!isEntries(value)) {
    report(2236, '', `a policy is a map of phases, not ${shown(value)}`, {
      hint: 'such as on_http_request:',
    });
    return null;
  }
  const rules: RawRule[] = [];
  const seen = new Map<Phase, string>();
  let enabled = true;
  for (const [key, given] of Object.entries(value)) {
    const pointer = pointerTo('', key);
    if (key === 'enabled') {
      enabled = readEnabled(reading, value, given, pointer);
      continue;
    }
    const phase = phaseOf(reading, value, key, pointer);
    if (phase === undefined) continue;
    const first = seen.get(phase);
    if (first !== undefined) {
      report(2236, pointer, `${quoted(key)} and ${quoted(first)} are the same phase`, { at: 'key' });
    }
    seen.set(phase, key);
    checkEndpoint(reading, phase, pointer);
    rules.push(...readRules(reading, phase, given, pointer));
  }
  const isEmpty = Object.entries(value).every(([key, given]) => key === 'enabled' || isNothing(given));
  if (rules.length === 0 && isEmpty) {
    report('policy.empty', '', 'the policy has no rules and no effect');
  }
  return { enabled, rules };
}

function isNothing(given: unknown): boolean {
  return given === null || (Array.isArray(given) && given.length === 0);
}

function readEnabled({ policy, report }: Reading, value: Entries, given: unknown, pointer: string): boolean {
  if (typeof given !== 'boolean') {
    if (typeof given !== 'symbol') {
      report(2236, pointer, `'enabled' has to be true or false, not ${shown(given)}`);
    }
    return true;
  }
  const message = "'enabled' inside a policy is deprecated";
  const alone = Object.keys(value).length === 1;
  const fix = given && !alone ? removeLine(policy, pointer, "remove 'enabled'") : undefined;
  const hint = given
    ? 'remove it: a policy is enabled by default'
    : 'disable the policy where it is used instead';
  report('policy.legacy_enabled', pointer, message, { at: 'key', hint, fix });
  return given;
}

/** Keys of the files and resources that contain a policy. */
const AROUND =
  /^(?:apiVersion|kind|metadata|spec|version|agent|endpoints|tunnels|traffic_?policy|policy|inline)$/i;

function phaseOf(
  { policy, report }: Reading,
  value: Entries,
  key: string,
  pointer: string,
): Phase | undefined {
  if ((PHASES as readonly string[]).includes(key)) return key as Phase;
  const legacy = Object.hasOwn(LEGACY_PHASES, key) ? LEGACY_PHASES[key] : undefined;
  if (legacy !== undefined) {
    const fix = Object.hasOwn(value, legacy) ? undefined : renameKey(policy, pointer, legacy, true);
    report('policy.legacy_name', pointer, `${quoted(key)} is now called '${legacy}'`, {
      at: 'key',
      hint: `write ${legacy}`,
      fix,
    });
    return legacy;
  }
  const meant = suggest(key, PHASES);
  const isRule = ['expressions', 'actions', 'name', 'type', 'config'].includes(key);
  const isAround = AROUND.test(key);
  report(2236, pointer, `${quoted(key)} is not a phase of a policy`, {
    at: 'key',
    hint:
      didYouMean(meant) ??
      (isRule ? 'rules are a list below a phase' : undefined) ??
      (isAround ? 'a policy file has only the part that begins with the phases' : undefined),
    notes: [`phases: ${listed(PHASES)}`],
    fix: meant === undefined ? undefined : renameKey(policy, pointer, meant, false),
  });
  return undefined;
}

/** Whether the endpoint of the policy has this phase. */
function checkEndpoint({ setting, report }: Reading, phase: Phase, pointer: string): void {
  const { attachedTo } = setting;
  if (attachedTo === 'https_edge' && phase === 'on_tcp_connect') {
    const message = 'HTTPS edges have no phase on_tcp_connect';
    report(2248, pointer, message, {
      at: 'key',
      hint: 'move its rules to on_http_request, or use a TLS or TCP edge',
    });
  } else if (attachedTo === 'internal_endpoint' && phase === 'on_tcp_connect') {
    const message = 'internal HTTP endpoints have no phase on_tcp_connect';
    report(2262, pointer, message, { at: 'key', hint: 'move its rules to on_http_request' });
  } else if ((attachedTo === 'tcp_edge' || attachedTo === 'tls_edge') && phase !== 'on_tcp_connect') {
    const protocol = attachedTo === 'tcp_edge' ? 'TCP' : 'TLS';
    report(2230, pointer, `a ${protocol} edge has no phase ${phase}: it does not parse HTTP`, {
      at: 'key',
      hint: 'only on_tcp_connect runs there',
    });
  }
}

function readRules(reading: Reading, phase: Phase, given: unknown, pointer: string): RawRule[] {
  const { policy, report } = reading;
  if (given === null || typeof given === 'symbol') return [];
  if (!Array.isArray(given)) {
    const isRule =
      isEntries(given) && ['actions', 'expressions', 'type'].some((key) => Object.hasOwn(given, key));
    report(2236, pointer, `'${phase}' has to be a list of rules, not ${shown(given)}`, {
      at: isRule ? 'key' : 'value',
      hint: isRule ? 'put a dash before the rule' : undefined,
    });
    return [];
  }
  const rules: RawRule[] = [];
  for (const [index, rule] of given.entries()) {
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
