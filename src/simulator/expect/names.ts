import { meantWord } from '../../diagnostics/meant.ts';
import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { suggest } from '../../diagnostics/suggest.ts';
import type { Report } from '../../diagnostics/report.ts';
import { listed, quoted } from '../../diagnostics/message_text.ts';
import { ENGINE_REASONS, STREAM_REASONS } from '../../engine/refusals.ts';
import { TRAFFIC_EVENTS, type TrafficType, isOpenPath } from '../../events/fields.ts';
import type { ModuleFacts } from '../../filters/facts.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../../filters/table.ts';
import type { ScenarioCode } from '../document/codes.ts';
import type { BecauseConfig } from '../document/schema.ts';

/** Checks names in expectations: an unknown name can never occur, so it is a mistake. */

type Reporting = Report<ScenarioCode>;

const TYPES = [...MODULE_FACTS.keys()];
/** Names of steps in traces: modules, and other steps. */
const STEPS = [...TYPES, 'route', 'connect', 'upstream', 'engine'];

/** A backend of the edge, or `none`. */
export function checkBackendName(
  name: unknown,
  pointer: string,
  backends: readonly string[],
  report: Reporting,
  at: 'key' | 'value' = 'value',
): void {
  if (typeof name !== 'string' || name === 'none' || backends.includes(name)) return;
  report('scenario.unknown_backend', pointer, `the edge has no backend ${quoted(name)}`, {
    at,
    ...meantWord(suggest(name, backends)),
    notes: [`its backends: ${listed(backends)}`],
  });
}

/** The name of a module at a key, and its possible decisions. */
export function checkDecision(module: string, decision: unknown, pointer: string, report: Reporting): void {
  const known = MODULE_FACTS.get(module);
  if (known === undefined) {
    report('scenario.unknown_module', pointer, `unknown module ${quoted(module)}`, {
      at: 'key',
      ...meantWord(suggest(module, TYPES)),
      notes: [`modules: ${listed(TYPES)}`],
    });
    return;
  }
  const decisions = decisionsOf(known);
  if (typeof decision !== 'string' || decisions.includes(decision)) return;
  report('scenario.bad_expectation', pointer, `${module} never decides ${quoted(decision)}`, {
    ...meantWord(suggest(decision, decisions)),
    notes: [`one of: ${listed(decisions)}`],
  });
}

const decisionsByType = new Map<string, readonly string[]>();

/** The possible decisions of a module; cached, because there are many cases. */
function decisionsOf({ type, reasons }: ModuleFacts<never>): readonly string[] {
  let known = decisionsByType.get(type);
  if (known === undefined) {
    const own = Object.values(reasons).map(({ decision }) => decision);
    decisionsByType.set(type, (known = [...new Set(['allow', 'block', 'not_run', 'invalid', ...own])]));
  }
  return known;
}

/** The module and the code of a step. */
export function checkBecauseNames(given: string | BecauseConfig, pointer: string, report: Reporting): void {
  if (typeof given === 'string') return checkCode(given, pointer, report);
  const { module, code, reason } = given;
  const at = (key: string) => pointerTo(pointer, key);
  if (code !== undefined) checkCode(code, at('code'), report);
  if (module === undefined) return;
  if (!STEPS.includes(module)) {
    report('scenario.unknown_module', at('module'), `unknown module ${quoted(module)}`, {
      ...meantWord(suggest(module, STEPS)),
      notes: [`modules: ${listed(STEPS)}`],
    });
    return;
  }
  // Steps of a policy include those of its rules and actions, which have reasons of their own.
  const known = MODULE_FACTS.get(module);
  if (reason === undefined || known === undefined || known.runsActions === true) return;
  const reasons = Object.keys(known.reasons).map((each) => each.slice(module.length + 1));
  if (reasons.includes(reason)) return;
  report('scenario.bad_expectation', at('reason'), `${module} has no reason ${quoted(reason)}`, {
    ...meantWord(suggest(reason, reasons)),
    notes: [`its reasons: ${listed(reasons)}`],
  });
}

/** The rule of a step that must not be there: one that no policy has never applies. */
export function checkRuleName(
  given: string | BecauseConfig,
  pointer: string,
  policies: readonly string[],
  report: Reporting,
): void {
  const rule = typeof given === 'string' ? undefined : given.rule;
  if (rule === undefined || /^on_\w+\[\d+\]$/.test(rule)) return;
  const named = new RegExp(`["']?name["']?\\s*:\\s*["']?${rule.replaceAll(/[^\w ]/g, '\\$&')}["'\\s,}]`);
  if (policies.some((text) => named.test(`${text}\n`))) return;
  report(
    'scenario.bad_expectation',
    pointerTo(pointer, 'rule'),
    `no policy of the edge has a rule ${quoted(rule)}`,
  );
}

/** Every code of a step: of the engine, of modules, of rules, and of actions. */
const CODES = [
  ...Object.keys(ENGINE_REASONS),
  ...Object.keys(STREAM_REASONS),
  ...Array.from(MODULE_FACTS.values()).flatMap(({ reasons }) => Object.keys(reasons)),
  'rule.applied',
  'rule.not_applied',
  ...Array.from(ACTION_FACTS.values()).flatMap(({ type, reasons }) =>
    // Each may fail; some can be set to continue then.
    [...new Set([...Object.keys(reasons), 'failed'])].map((code) => `${type.replaceAll('-', '_')}.${code}`),
  ),
];
const KNOWN: ReadonlySet<string> = new Set(CODES);

function checkCode(code: string, pointer: string, report: Reporting): void {
  if (KNOWN.has(code)) return;
  const dot = code.indexOf('.');
  const own = CODES.filter((each) => each.startsWith(dot < 0 ? `${code}.` : code.slice(0, dot + 1)));
  report('scenario.bad_expectation', pointer, `unknown reason code ${quoted(code)}`, {
    ...meantWord(suggest(code, CODES)),
    notes: own.length === 0 ? ['written like ip_restriction.denied'] : [`its codes: ${listed(own)}`],
  });
}

/** A dotted path into an event. */
export function checkEventPath(path: string, type: TrafficType, pointer: string, report: Reporting): void {
  const fields = Object.keys(TRAFFIC_EVENTS[type]);
  if (isOpenPath(path) || fields.some((field) => field === path || field.startsWith(`${path}.`))) return;
  report('scenario.bad_expectation', pointer, `events have no field ${quoted(path)}`, {
    at: 'key',
    ...meantWord(fields.find((field) => field.startsWith(path)) ?? suggest(path, fields)),
    notes: [`fields: ${listed(fields)}`],
  });
}
