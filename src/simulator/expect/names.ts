import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { suggest } from '../../diagnostics/suggest.ts';
import type { Report } from '../../document/report.ts';
import { didYouMean, listed, quoted } from '../../document/words.ts';
import { ENGINE_REASONS } from '../../engine/refusals.ts';
import { STREAM_REASONS } from '../../engine/stream_reasons.ts';
import { TRAFFIC_FIELDS } from '../../events/event_types.ts';
import { MODULES } from '../../modules/table.ts';
import type { ScenarioCode } from '../document/codes.ts';
import type { BecauseConfig } from '../document/schema.ts';

/** Names in expectations: what nothing is called can never come about, so it is a mistake. */

type Reporting = Report<ScenarioCode>;

const TYPES = MODULES.map(({ type }) => type);
/** What steps of a trace are called after: modules, and what is none. */
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
    hint: didYouMean(suggest(name, backends)),
    notes: [`its backends: ${listed(backends)}`],
  });
}

/** The name of a module at a key, and what it may decide. */
export function checkDecision(module: string, decision: unknown, pointer: string, report: Reporting): void {
  const known = MODULES.find(({ type }) => type === module);
  if (known === undefined) {
    report('scenario.unknown_module', pointer, `no module is called ${quoted(module)}`, {
      at: 'key',
      hint: didYouMean(suggest(module, TYPES)),
      notes: [`the modules: ${listed(TYPES)}`],
    });
    return;
  }
  const decisions = decisionsOf(known);
  if (typeof decision !== 'string' || decisions.includes(decision)) return;
  report('scenario.bad_expectation', pointer, `${module} never decides ${quoted(decision)}`, {
    hint: didYouMean(suggest(decision, decisions)),
    notes: [`one of: ${listed(decisions)}`],
  });
}

const decisionsByType = new Map<string, readonly string[]>();

/** What events and expectations may have of a module; found once, for cases are many. */
function decisionsOf({ type, reasons }: (typeof MODULES)[number]): readonly string[] {
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
    report('scenario.unknown_module', at('module'), `no module is called ${quoted(module)}`, {
      hint: didYouMean(suggest(module, STEPS)),
      notes: [`the modules: ${listed(STEPS)}`],
    });
    return;
  }
  // Steps of a policy are also those of its rules and actions, which have reasons of their own.
  const known = MODULES.find(({ type }) => type === module);
  if (reason === undefined || known === undefined || module === 'traffic_policy') return;
  const reasons = Object.keys(known.reasons).map((each) => each.slice(module.length + 1));
  if (reasons.includes(reason)) return;
  report('scenario.bad_expectation', at('reason'), `${module} has no reason ${quoted(reason)}`, {
    hint: didYouMean(suggest(reason, reasons)),
    notes: [`its reasons: ${listed(reasons)}`],
  });
}

/** Codes that are known without the actions of policies, whose table takes long to load. */
const CODES = [
  ...Object.keys(ENGINE_REASONS),
  ...Object.keys(STREAM_REASONS),
  ...MODULES.flatMap(({ reasons }) => Object.keys(reasons)),
  'rule.applied',
  'rule.not_applied',
];
const KNOWN: ReadonlySet<string> = new Set(CODES);
const PREFIXES: ReadonlySet<string> = new Set(CODES.map((code) => prefixOf(code)));
/** Modules and actions of one name. */
const SHARED: ReadonlySet<string> = new Set(['circuit_breaker', 'oauth', 'saml']);

function prefixOf(code: string): string {
  return code.slice(0, code.indexOf('.') + 1);
}

function checkCode(code: string, pointer: string, report: Reporting): void {
  if (KNOWN.has(code)) return;
  const prefix = prefixOf(code);
  const isForeign = prefix !== '' && (!PREFIXES.has(prefix) || SHARED.has(prefix.slice(0, -1)));
  const near = suggest(code, CODES);
  // An action of a policy may have this code; of an unknown beginning only a misspelling of a module is sure.
  if (isForeign && (SHARED.has(prefix.slice(0, -1)) || near === undefined)) return;
  const own = CODES.filter((each) => each.startsWith(prefix === '' ? `${code}.` : prefix));
  report('scenario.bad_expectation', pointer, `there is no reason code ${quoted(code)}`, {
    hint: didYouMean(near),
    notes: own.length === 0 ? ['written like ip_restriction.denied'] : [`there are: ${listed(own)}`],
  });
}

/** Parts of an event whose keys are not fixed. */
const OPEN = /^(?:http\.(?:request|response)\.headers|traffic_policy\.logs)(?:\.|$)/;

/** A dotted path into an event. */
export function checkEventPath(
  path: string,
  type: 'http_request_complete.v0' | 'tcp_connection_closed.v0',
  pointer: string,
  report: Reporting,
): void {
  const fields = TRAFFIC_FIELDS[type] ?? [];
  if (OPEN.test(path) || fields.some((field) => field === path || field.startsWith(`${path}.`))) return;
  report('scenario.bad_expectation', pointer, `events have no field ${quoted(path)}`, {
    at: 'key',
    hint: didYouMean(fields.find((field) => field.startsWith(path)) ?? suggest(path, fields)),
    notes: [`fields: ${listed(fields)}`],
  });
}
