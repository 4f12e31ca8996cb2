import type { StreamExchange } from '../engine/stream.ts';
import { decidingStreamStep, traceOfStream } from '../engine/stream_trace.ts';
import type { Locate, LocatedStep } from './explain.ts';

/** What became of one connection, and why. */
export interface StreamExplanation {
  readonly connection: {
    readonly kind: 'tls' | 'tcp' | null;
    /** Host and port that it came to. */
    readonly endpoint: string;
    readonly clientIp: string;
  };
  readonly startMs: number;
  readonly outcome: 'allowed' | 'denied';
  /** The backend that took it, or the last that was tried. */
  readonly backend: string | null;
  readonly because: LocatedStep;
  readonly steps: readonly LocatedStep[];
}

/** Explains a connection; `locate` finds source positions, where there is a source. */
export function explanationOfStream(exchange: StreamExchange, locate: Locate): StreamExplanation {
  const { connection, pipeline, attempts } = exchange;
  const steps: LocatedStep[] = [];
  for (const step of traceOfStream(exchange)) {
    steps.push(Object.assign(step, { place: step.pointer === null ? null : locate(step.pointer) }));
  }
  return {
    connection: {
      kind: pipeline?.kind ?? null,
      endpoint: `${connection.serverName}:${connection.serverPort}`,
      clientIp: connection.client.text,
    },
    startMs: connection.startMs,
    outcome: isAllowed(exchange) ? 'allowed' : 'denied',
    backend: attempts.at(-1)?.leaf.id ?? null,
    because: decidingStreamStep(steps) as LocatedStep,
    steps,
  };
}

/** Whether a backend took the connection. */
export function isAllowed({ attempts }: StreamExchange): boolean {
  return attempts.at(-1)?.reason === 'upstream.connected';
}

/** The explanation as a tree for a terminal; one line a step, the deciding one marked. */
export function renderStreamExplanation(explanation: StreamExplanation): string {
  const { connection, steps, because, outcome, backend } = explanation;
  const lines = [`${connection.kind ?? 'connect'} ${connection.endpoint}  from ${connection.clientIp}`];
  const width = Math.max(...steps.map((step) => step.module.length));
  for (const step of steps) {
    const mark = step === because ? (step.verdict === 'stop' ? '■' : '●') : ' ';
    const facts = Object.entries(step.detail).map(([name, value]) => `${name}=${String(value)}`);
    const place = step.place === null ? '' : `  ${step.place.file}:${step.place.line}:${step.place.column}`;
    const fact = facts.length === 0 ? '' : ` (${facts.join(', ')})`;
    lines.push(`├ ${mark} ${step.module.padEnd(width)}  ${step.verdict}  ${step.says}${fact}${place}`);
    for (const inner of step.inner ?? [])
      lines.push(`│ ${' '.repeat(width)}    ${inner.kind} ${inner.name}: ${inner.says}`);
  }
  lines.push(`└ ${outcome}${outcome === 'allowed' ? ` → backend ${backend ?? ''}` : ''}  ${because.code}`);
  return lines.join('\n');
}
