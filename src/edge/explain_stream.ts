import type { StreamExchange } from '../engine/stream.ts';
import { decidingStreamStep, traceOfStream } from '../engine/stream_trace.ts';
import { type Locate, type LocatedStep, locatedSteps, stepLines } from './explain.ts';

/** The result of a connection, and why. */
export interface StreamExplanation {
  readonly connection: {
    readonly kind: 'tls' | 'tcp' | null;
    /** The host and port that the client connected to. */
    readonly endpoint: string;
    readonly clientIp: string;
  };
  readonly startMs: number;
  readonly outcome: 'allowed' | 'denied';
  /** The backend that accepted it, or the last one tried. */
  readonly backend: string | null;
  readonly because: LocatedStep;
  readonly steps: readonly LocatedStep[];
}

/** Explains a connection; `locate` finds source positions. */
export function explanationOfStream(exchange: StreamExchange, locate: Locate): StreamExplanation {
  const { connection, pipeline, attempts } = exchange;
  const steps = locatedSteps(traceOfStream(exchange), locate);
  return {
    connection: {
      kind: pipeline?.kind ?? null,
      endpoint: `${connection.serverName}:${connection.serverPort}`,
      clientIp: connection.client.text,
    },
    startMs: connection.startMs,
    outcome: isAllowed(exchange) ? 'allowed' : 'denied',
    backend: attempts.at(-1)?.endpoint.id ?? null,
    because: decidingStreamStep(steps) as LocatedStep,
    steps,
  };
}

/** Whether a backend accepted the connection. */
export function isAllowed({ attempts }: StreamExchange): boolean {
  return attempts.at(-1)?.reason === 'upstream.connected';
}

/** The explanation as a tree for a terminal; one line per step, the deciding one marked. */
export function renderStreamExplanation(explanation: StreamExplanation): string {
  const { connection, steps, because, outcome, backend } = explanation;
  const head = `${connection.kind ?? 'connect'} ${connection.endpoint}  from ${connection.clientIp}`;
  const end = `└ ${outcome}${outcome === 'allowed' ? ` → backend ${backend ?? ''}` : ''}  ${because.code}`;
  return [head, ...stepLines(steps, because), end].join('\n');
}

/** Does nothing: a call loads this module, where modules are loaded on first use. */
export function loadStreamExplanations(): void {}
