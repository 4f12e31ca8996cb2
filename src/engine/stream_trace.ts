import type { Reason } from './contract.ts';
import { redactIn } from './redact.ts';
import type { StreamExchange } from './stream.ts';
import { STREAM_REASONS, type StreamReason } from './stream_reasons.ts';
import { type Step, moduleSteps } from './trace.ts';

/** The steps of a connection: the matching edge, the verdicts of its modules, the attempted backends, the end. */
export function traceOfStream(exchange: StreamExchange): Step[] {
  const { pipeline, routed, attempts, ended } = exchange;
  const matched = pipeline !== null;
  const detail = matched ? { edge: pipeline.edge, kind: pipeline.kind } : routed.detail;
  const route = step('route', 'connect', matched, { code: routed.code, detail }, pipeline?.pointer ?? null);
  const steps: Step[] = [route, ...moduleSteps(exchange, 'connection', exchange.verdicts)];
  for (const { endpoint, reason, detail: failure } of attempts) {
    const facts = failure === '' ? { backend: endpoint.id } : { backend: endpoint.id, detail: failure };
    const isConnected = reason === 'upstream.connected';
    steps.push(step('upstream', 'upstream', isConnected, { code: reason, detail: facts }, null));
  }
  // The end of a relayed connection is measured, not decided.
  if (matched && ended !== null && !ended.code.startsWith('stream.ended')) {
    const isCut = ended.code.startsWith('stream.') && ended.code !== 'stream.not_forwarded';
    steps.push(step('end', 'engine', isCut, ended, null));
  }
  const { redact } = exchange.configuration;
  return redact === null ? steps : redactIn(steps, redact);
}

/** The step that decided whether the connection was relayed. */
export function decidingStreamStep(steps: readonly Step[]): Step {
  const connected = steps.findLast(({ code }) => code === 'upstream.connected');
  return connected ?? steps.findLast(({ verdict }) => verdict === 'stop') ?? steps.at(-1)!;
}

function step(
  phase: Step['phase'],
  module: string,
  passes: boolean,
  { code, detail }: Reason<StreamReason>,
  pointer: string | null,
): Step {
  const { message } = STREAM_REASONS[code];
  return { phase, module, verdict: passes ? 'pass' : 'stop', code, says: message, detail, pointer };
}
