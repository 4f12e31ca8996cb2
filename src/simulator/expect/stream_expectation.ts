import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { listed, quoted } from '../../config_file/message_text.ts';
import type { BecauseConfig, ExpectationConfig, ExpectedValue } from '../document/schema.ts';
import type { ConnectionOutcome } from '../run_connect.ts';
import { compileBecause } from './because.ts';
import { becauseMismatch, eventValue } from './deeper.ts';
import type { Naming } from './expectation.ts';
import type { Mismatch } from '../result.ts';
import { checkBackendName, checkBecauseNames, checkDecision, checkEventPath } from './names.ts';
import { compileValue, holdsSubset, shownValue } from './values.ts';

/** A compiled expectation of a connection: null if it is met. */
export type StreamExpectation = (outcome: ConnectionOutcome) => Mismatch | null;

const OF_CONNECTIONS = ['connection', 'backend', 'because', 'event', 'decisions', 'logs'] as const;

/** Compiles the expectations of a connection; those that only requests can have are reported. */
export function compileStreamExpectation(
  config: ExpectationConfig,
  pointer: string,
  { backends, report }: Naming,
): StreamExpectation[] {
  const checks: StreamExpectation[] = [];
  const at = (key: string) => pointerTo(pointer, key);
  const value = (
    what: string,
    expected: ExpectedValue | undefined,
    place: string,
    of: (outcome: ConnectionOutcome) => unknown,
  ): void => {
    if (expected === undefined) return;
    const check = compileValue(expected);
    if ('problem' in check) return report('scenario.bad_expectation', place, check.problem);
    checks.push((outcome) => {
      const received = of(outcome);
      if (check.holds(received)) return null;
      return { what, expected: check.message, received: shownValue(received), pointer: place };
    });
  };
  for (const key of Object.keys(config)) {
    if ((OF_CONNECTIONS as readonly string[]).includes(key)) continue;
    const message = `a connection has no ${quoted(key)}`;
    report('scenario.bad_expectation', at(key), message, {
      at: 'key',
      notes: [`it has: ${listed(OF_CONNECTIONS)}`],
    });
  }
  value('connection', config.connection, at('connection'), ({ connection }) => connection);
  checkBackendName(config.backend, at('backend'), backends, report);
  value('backend', config.backend, at('backend'), ({ backend }) => backend);
  for (const [path, expected] of Object.entries(config.event ?? {})) {
    const place = pointerTo(at('event'), path);
    checkEventPath(path, 'tcp_connection_closed.v0', place, report);
    value(`event.${path}`, expected, place, (outcome) => eventValue(outcome.event(), path));
  }
  for (const [module, expected] of Object.entries(config.decisions ?? {})) {
    const place = pointerTo(at('decisions'), module);
    checkDecision(module, expected, place, report);
    const wanted = expected === 'invalid' ? 'not_run' : expected;
    value(`decisions.${module}`, wanted, place, ({ exchange }) => streamDecisionOf(exchange, module));
  }
  checks.push(...becauseChecks(config.because, at('because'), report));
  const { logs } = config;
  if (logs !== undefined) checks.push((outcome) => logsMismatch(logs, outcome, at('logs')));
  return checks;
}

function becauseChecks(
  because: ExpectationConfig['because'],
  pointer: string,
  report: Naming['report'],
): StreamExpectation[] {
  const list: readonly (string | BecauseConfig)[] =
    because === undefined ? [] : Array.isArray(because) ? because : [because];
  return list.flatMap((each, index): StreamExpectation[] => {
    const place = Array.isArray(because) ? pointerTo(pointer, index) : pointer;
    checkBecauseNames(each, place, report);
    const check = compileBecause(each);
    if ('problem' in check) {
      report('scenario.bad_expectation', place, check.problem);
      return [];
    }
    return [(outcome) => becauseMismatch(check, outcome, place)];
  });
}

/** The decision that a module's reason declares, or `not_run`. */
export function streamDecisionOf(
  { pipeline, verdicts }: ConnectionOutcome['exchange'],
  module: string,
): string {
  const index = pipeline?.positionOf[module];
  const verdict = index === undefined ? undefined : verdicts[index];
  if (verdict === undefined) return 'not_run';
  return pipeline!.filters[index!]!.reasons[verdict.reason.code]?.decision ?? 'not_run';
}

function logsMismatch(
  expected: number | readonly unknown[],
  { exchange }: ConnectionOutcome,
  pointer: string,
): Mismatch | null {
  const logs = exchange.logs ?? [];
  const isCount = typeof expected === 'number';
  if (isCount ? logs.length === expected : holdsSubset(logs, expected)) return null;
  const received = isCount ? String(logs.length) : shownValue(logs);
  return { what: 'logs', expected: isCount ? String(expected) : shownValue(expected), received, pointer };
}
