import { stepLine } from '../../simulator/report/failure.ts';
import type { Decision, Handled } from '../../edgeproof.ts';
import { type LocatedStep, locatedSteps } from '../../edge/explain.ts';
import { type Step, decidingStep } from '../../engine/trace.ts';
import type { HttpRequestComplete } from '../../events/catalogue.ts';
import { allValues } from '../../http/fields.ts';
import type { SimulatedExchange } from '../../simulator/create_simulator.ts';
import type { Seen } from '../../simulator/simulated_request.ts';

/** The view that matchers have of the value passed to `expect`. */
export interface Received {
  readonly status: number;
  readonly backend: string | null;
  /** Null when the field is absent. */
  readonly header: (name: string) => string | null;
  readonly event: HttpRequestComplete;
  readonly decidedBy: Step;
  readonly steps: readonly Step[];
  /** The request that the last upstream received; undefined if it was not recorded. */
  readonly upstream: Seen | null | undefined;
}

export type Testable = SimulatedExchange | Decision | Handled;

/** Reads a result of `send`, `decide` or `handle`; throws a TypeError for anything else. */
export function received(value: unknown): Received {
  if (isSimulated(value)) {
    const { status, backend, event, decidedBy, steps, upstream, header } = value;
    return { status, backend, header, event: event.object, decidedBy, steps, upstream };
  }
  if (isDecision(value)) {
    const { status, backend, event, trace, exchange } = value;
    return {
      ...stepsOf(trace),
      status,
      backend,
      header: (name) => joined(allValues(exchange.response?.headers ?? [], name.toLowerCase())),
      event: event.object,
      upstream: undefined,
    };
  }
  if (isHandled(value)) {
    const { response, event, trace } = value;
    const reached = trace.findLast(({ phase }) => phase === 'upstream')?.detail['backend'];
    return {
      ...stepsOf(trace),
      status: response.status,
      backend: typeof reached === 'string' ? reached : null,
      header: (name) => response.headers.get(name),
      event: event.object,
      upstream: undefined,
    };
  }
  throw new TypeError('expected a result of simulator.send, edge.decide or edge.handle');
}

function stepsOf(trace: readonly Step[]): Pick<Received, 'decidedBy' | 'steps'> {
  return { decidedBy: decidingStep(trace), steps: trace };
}

function joined(values: readonly string[]): string | null {
  return values.length === 0 ? null : values.join(', ');
}

function has(value: unknown, ...names: readonly string[]): boolean {
  return typeof value === 'object' && value !== null && names.every((name) => name in value);
}

function isSimulated(value: unknown): value is SimulatedExchange {
  return has(value, 'steps', 'decidedBy', 'durationMs', 'event');
}

function isDecision(value: unknown): value is Decision {
  return has(value, 'exchange', 'trace', 'event', 'status');
}

function isHandled(value: unknown): value is Handled {
  return has(value, 'response', 'trace', 'event');
}

/** The decision steps, for the message of a failure. */
export function explained({ steps, decidedBy, status, backend }: Received): string {
  const lines = steps.map((step) => {
    const mark =
      step === decidedBy || (step.code === decidedBy.code && step.phase === decidedBy.phase) ? '>' : ' ';
    const own = `${mark} ${step.verdict}  ${stepLine(located(step))}`;
    const inner = (step.inner ?? []).map(({ kind, name, message }) => `      ${kind} ${name}: ${message}`);
    return [own, ...inner].join('\n');
  });
  const end = `  ${status === 0 ? 'no response' : String(status)}${backend === null ? '' : ` → backend ${backend}`}`;
  return ['how it was decided:', ...lines, end].join('\n');
}

function located(step: Step): LocatedStep {
  return 'place' in step ? (step as LocatedStep) : locatedSteps([step], () => null)[0]!;
}
