import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { redactIn } from '../../engine/redact.ts';
import type { Exchange } from '../../engine/exchange.ts';
import type { StreamExchange } from '../../engine/stream_exchange.ts';
import type { HttpRequestComplete, TcpConnectionClosed } from '../../events/catalogue.ts';
import { isOpenPath } from '../../events/fields.ts';
import type { BecauseConfig, ExpectationConfig } from '../document/schema.ts';
import { type BecauseCheck, compileBecause, nearestStep } from './because.ts';
import type { ExpectationContext } from './expectation_context.ts';
import type { Mismatch } from '../result.ts';
import { checkBecauseNames, checkDecision, checkRuleName } from './names.ts';
import type { Outcome } from './outcome.ts';
import { holdsSubset, shownValue } from './values.ts';

/** A field of an event by its dotted path. */
export function eventValue(event: HttpRequestComplete | TcpConnectionClosed | null, path: string): unknown {
  if (event === null) return undefined;
  let value: unknown = event;
  for (const part of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) {
      // An unknown key among headers or logs is not a mistake.
      return isOpenPath(path) ? undefined : `events have no field ${path}`;
    }
    value = (value as Record<string, unknown>)[part];
  }
  return value;
}

/** The expectations that requests and connections share: steps, decisions and logs. */
export function decisionChecks<Given extends Pick<Outcome, 'facts'>>(
  config: ExpectationConfig,
  at: (key: string) => string,
  { policies, report }: ExpectationContext,
  exchangeOf: (outcome: Given) => Exchange | StreamExchange,
): ((outcome: Given) => Mismatch | null)[] {
  const checks: ((outcome: Given) => Mismatch | null)[] = [];
  const { decisions, logs } = config;
  for (const key of ['because', 'not_because'] as const) {
    for (const [each, pointer] of stepsOf(config[key], at(key))) {
      checkBecauseNames(each, pointer, report);
      if (key === 'not_because') checkRuleName(each, pointer, policies, report);
      const check = compileBecause(each);
      const mismatch = key === 'because' ? becauseMismatch : notBecauseMismatch;
      if ('problem' in check) report('scenario.bad_expectation', pointer, check.problem);
      else checks.push((outcome) => mismatch(check, outcome, pointer));
    }
  }
  for (const [module, expected] of Object.entries(decisions ?? {})) {
    const pointer = pointerTo(at('decisions'), module);
    checkDecision(module, expected, pointer, report);
    const wanted = expected === 'invalid' ? 'not_run' : expected;
    checks.push((outcome) => {
      const received = decisionOf(exchangeOf(outcome), module);
      if (received === wanted) return null;
      const what = `decisions.${module}`;
      return { what, expected: shownValue(wanted), received: shownValue(received), pointer };
    });
  }
  if (logs !== undefined) checks.push((outcome) => logsMismatch(logs, exchangeOf(outcome), at('logs')));
  return checks;
}

/** One step or several, each with its pointer. */
function stepsOf(
  given: ExpectationConfig['because'] | ExpectationConfig['not_because'],
  pointer: string,
): (readonly [string | BecauseConfig, string])[] {
  if (!Array.isArray(given)) return given === undefined ? [] : [[given, pointer]];
  return given.map((each: string | BecauseConfig, index) => [each, pointerTo(pointer, index)]);
}

/** Checks whether the trace has a step; if not, finds the nearest. */
function becauseMismatch(
  check: BecauseCheck,
  outcome: Pick<Outcome, 'facts'>,
  pointer: string,
): Mismatch | null {
  const facts = outcome.facts();
  const nearest = nearestStep(check, facts);
  if (nearest === null) return { what: 'because', expected: check.message, received: 'no step', pointer };
  if (nearest.departures.length === 0) return null;
  const { step, departures } = nearest;
  const differs = departures
    .map(({ part, expected, received }) => `${part} is ${received}, not ${expected}`)
    .join('; ');
  return {
    what: 'because',
    expected: check.message,
    received: `no such step among ${[...new Set(facts.map(({ code }) => code))].join(', ')}`,
    pointer,
    near: `nearest is ${step.code}${step.rule === undefined ? '' : ` of rule ${step.rule}`}: ${differs}`,
  };
}

/** Checks that the trace has no such step. */
function notBecauseMismatch(
  check: BecauseCheck,
  outcome: Pick<Outcome, 'facts'>,
  pointer: string,
): Mismatch | null {
  const found = outcome.facts().find((step) => check.departures(step).length === 0);
  if (found === undefined) return null;
  const { code, message } = found;
  return {
    what: 'not_because',
    expected: `no step with ${check.message}`,
    received: `${code}: ${message}`,
    pointer,
  };
}

/** The decision that a module's reason declares, or `not_run`. */
export function decisionOf(exchange: Exchange | StreamExchange, module: string): string {
  const index = exchange.pipeline?.positionOf[module];
  if (index === undefined) return 'not_run';
  const inResponse = 'responseVerdicts' in exchange ? exchange.responseVerdicts[index] : undefined;
  const verdict = exchange.verdicts[index] ?? inResponse;
  if (verdict === undefined) return 'not_run';
  const reason = exchange.pipeline!.filters[index]!.reasons[verdict.reason.code];
  return reason?.decision ?? 'not_run';
}

/** Checks whether a body is JSON that contains the expected data. */
export function jsonMismatch(
  what: string,
  expected: unknown,
  body: string,
  pointer: string,
): Mismatch | null {
  let received: unknown;
  try {
    received = JSON.parse(body);
  } catch {
    return { what, expected: shownValue(expected), received: `no JSON: ${shownValue(body)}`, pointer };
  }
  if (holdsSubset(received, expected)) return null;
  return { what, expected: shownValue(expected), received: shownValue(received), pointer };
}

/** Checks the number of logs, or the logs of the list in order. */
function logsMismatch(
  expected: number | readonly unknown[],
  exchange: Exchange | StreamExchange,
  pointer: string,
): Mismatch | null {
  const { logs: noted, configuration } = exchange;
  const redact = configuration.redactor();
  const logs = noted === null ? [] : redact === null ? noted : redactIn(noted, redact);
  const holds = typeof expected === 'number' ? logs.length === expected : holdsSubset(logs, expected);
  if (holds) return null;
  const received = typeof expected === 'number' ? String(logs.length) : shownValue(logs);
  return {
    what: 'logs',
    expected: typeof expected === 'number' ? String(expected) : shownValue(expected),
    received,
    pointer,
  };
}
