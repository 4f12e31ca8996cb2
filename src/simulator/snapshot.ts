import { decidingStep, traceOf } from '../engine/trace.ts';
import { firstValue } from '../http/fields.ts';
import type { Outcome } from './expect/outcome.ts';
import { decisionOf } from './expect/deeper.ts';
import type { ConnectionOutcome } from './run_connect.ts';

/** The actual result as an expectation that it meets. */
export function snapshotOf(outcome: Outcome): Readonly<Record<string, unknown>> {
  const { simulated } = outcome;
  const { response, exchange } = simulated;
  const location = firstValue(response.headers, 'location');
  const decisions = Object.fromEntries(
    (exchange.pipeline?.filters ?? []).map(({ module }) => [module, decisionOf(exchange, module)]),
  );
  const seen = outcome.seen();
  const because = decidingStep(outcome.steps()).code;
  return {
    status: response.status === 0 ? 'none' : response.status,
    ...(location !== undefined && { headers: { location: locationOf(location, because) } }),
    upstream:
      seen === null ? 'none' : { backend: seen.request.endpoint.id, path: seen.request.target.split('?')[0] },
    ...(outcome.agent() !== 'none' && { agent: outcome.agent() }),
    because,
    ...(Object.keys(decisions).length > 0 && { decisions }),
  };
}

/** The start of a login is a URL with secrets of that login: only the part before them is kept. */
function locationOf(location: string, because: string): unknown {
  if (!because.endsWith('.login_started')) return location;
  return { starts_with: location.split('?', 1)[0]! };
}

/** The actual result of a connection as an expectation that it meets. */
export function snapshotOfConnection({
  connection,
  backend,
  agent,
  exchange,
}: ConnectionOutcome): Readonly<Record<string, unknown>> {
  const decisions = Object.fromEntries(
    (exchange.pipeline?.filters ?? []).map(({ module }) => [module, decisionOf(exchange, module)]),
  );
  return {
    connection,
    backend,
    ...(agent !== 'none' && { agent }),
    because: decidingStep(traceOf(exchange)).code,
    ...(Object.keys(decisions).length > 0 && { decisions }),
  };
}

/** A snapshot as text for its file: one line that both YAML and JSON can parse, or the usual style for YAML. */
export function writtenSnapshot(snapshot: unknown, form: 'yaml' | 'json'): string {
  if (form === 'json') return JSON.stringify(snapshot);
  if (Array.isArray(snapshot)) return `[${snapshot.map((each) => writtenSnapshot(each, form)).join(', ')}]`;
  if (typeof snapshot !== 'object' || snapshot === null) return plain(snapshot);
  const entries = Object.entries(snapshot).map(
    ([key, value]) => `${plain(key)}: ${writtenSnapshot(value, 'yaml')}`,
  );
  return `{ ${entries.join(', ')} }`;
}

/** A scalar without quotes if YAML parses it as written. */
function plain(value: unknown): string {
  const isPlain = typeof value === 'string' && /^[A-Za-z_/][\w./-]*$/.test(value);
  const isReserved = /^(?:true|false|null|yes|no|on|off|y|n)$/i.test(String(value));
  return isPlain && !isReserved ? value : JSON.stringify(value);
}
