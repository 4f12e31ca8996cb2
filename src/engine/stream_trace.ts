import type { Because } from './contract.ts';
import { hideIn } from './hide.ts';
import type { StreamExchange } from './stream.ts';
import { STREAM_REASONS, type StreamReason } from './stream_reasons.ts';
import { type Step, moduleSteps } from './trace.ts';

/** The steps of a connection: which edge took it, what its modules said, which backends were tried, how it ended. */
export function traceOfStream(exchange: StreamExchange): Step[] {
  const { pipeline, routed, attempts, ended } = exchange;
  const matched = pipeline !== null;
  const detail = matched ? { edge: pipeline.edge, kind: pipeline.kind } : routed.detail;
  const route = step('route', 'connect', matched, { code: routed.code, detail }, pipeline?.pointer ?? null);
  const steps: Step[] = [route, ...moduleSteps(exchange, 'connection', exchange.verdicts)];
  for (const { leaf, reason, detail: failure } of attempts) {
    const facts = failure === '' ? { backend: leaf.id } : { backend: leaf.id, detail: failure };
    const isConnected = reason === 'upstream.connected';
    steps.push(step('upstream', 'upstream', isConnected, { code: reason, detail: facts }, null));
  }
  // How a connection ends that was carried is measured, not decided.
  if (matched && ended !== null && !ended.code.startsWith('stream.ended')) {
    const isCut = ended.code.startsWith('stream.') && ended.code !== 'stream.not_forwarded';
    steps.push(step('end', 'engine', isCut, ended, null));
  }
  const { hide } = exchange.configuration;
  return hide === null ? steps : hideIn(steps, hide);
}

/** The step that decided whether the connection was carried. */
export function decidingStreamStep(steps: readonly Step[]): Step {
  const connected = steps.findLast(({ code }) => code === 'upstream.connected');
  return connected ?? steps.findLast(({ verdict }) => verdict === 'stop') ?? steps.at(-1)!;
}

function step(
  phase: Step['phase'],
  module: string,
  passes: boolean,
  { code, detail }: Because<StreamReason>,
  pointer: string | null,
): Step {
  const { says } = STREAM_REASONS[code];
  return { phase, module, verdict: passes ? 'pass' : 'stop', code, says, detail, pointer };
}
