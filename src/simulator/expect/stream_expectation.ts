import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { listed, quoted } from '../../diagnostics/message_text.ts';
import type { ExpectationConfig, ExpectedValue } from '../document/schema.ts';
import type { ConnectionOutcome } from '../run_connect.ts';
import { checkAgentName } from '../document/agents.ts';
import { decisionChecks, eventValue } from './deeper.ts';
import type { ExpectationContext } from './expectation_context.ts';
import type { Mismatch } from '../result.ts';
import { checkBackendName, checkEventPath } from './names.ts';
import { compileValue, shownValue } from './values.ts';

/** A compiled expectation of a connection: null if it is met. */
export type StreamExpectation = (outcome: ConnectionOutcome) => Mismatch | null;

const OF_CONNECTIONS = ['connection', 'backend', 'agent', 'because', 'event', 'decisions', 'logs'] as const;

/** Compiles the expectations of a connection; those that only requests can have are reported. */
export function compileStreamExpectation(
  config: ExpectationConfig,
  pointer: string,
  context: ExpectationContext,
): StreamExpectation[] {
  const { backends, agents, report } = context;
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
  checkAgentName(config.agent, at('agent'), agents, report);
  value('agent', config.agent, at('agent'), ({ agent }) => agent);
  for (const [path, expected] of Object.entries(config.event ?? {})) {
    const place = pointerTo(at('event'), path);
    checkEventPath(path, 'tcp_connection_closed.v0', place, report);
    value(`event.${path}`, expected, place, (outcome) => eventValue(outcome.event(), path));
  }
  checks.push(...decisionChecks<ConnectionOutcome>(config, at, context, ({ exchange }) => exchange));
  return checks;
}
