import { queryWithoutSecrets } from '../http/secrets.ts';
import type { InnerStep } from '../engine/contract.ts';
import type { Exchange } from '../engine/exchange.ts';
import { type Step, decidingStep, traceOf } from '../engine/trace.ts';

/** A place in the edge file. */
interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Finds the place of a JSON pointer, if there is a source. */
export type Locate = (pointer: string) => Place | null;

export interface LocatedStep extends Step {
  readonly place: Place | null;
  readonly inner?: readonly LocatedInnerStep[];
}

/** A rule or an action of a policy. */
interface LocatedInnerStep extends InnerStep {
  readonly place: Place | null;
}

/** The result of a request, and why. */
export interface Explanation {
  readonly request: { readonly method: string; readonly url: string; readonly clientIp: string };
  /** Start of the request, ms since the epoch. */
  readonly startMs: number;
  readonly status: number;
  /** The backend that responded, or null when none was reached. */
  readonly backend: string | null;
  readonly because: LocatedStep;
  readonly steps: readonly LocatedStep[];
}

/** Explains a completed exchange; `locate` finds source positions. */
export function explanationOf(exchange: Exchange, locate: Locate): Explanation {
  const { head, connection } = exchange;
  const steps = locatedSteps(traceOf(exchange), locate);
  const last = exchange.attempts.at(-1);
  const query = head.query === undefined ? '' : `?${queryWithoutSecrets(head.query, head.path)}`;
  return {
    request: {
      method: head.method,
      url: `${head.scheme}://${head.authority}${head.path}${query}`,
      clientIp: connection.client.text,
    },
    startMs: exchange.startMs,
    status: exchange.response?.status ?? 0,
    backend: last?.endpoint.id ?? null,
    because: decidingStep(steps) as LocatedStep,
    steps,
  };
}

/** The explanation as a tree for a terminal; one line per step, the deciding one marked. */
export function renderExplanation(explanation: Explanation): string {
  const { request, steps, because } = explanation;
  const head = `${request.method} ${request.url}  from ${request.clientIp}`;
  const to = explanation.backend === null ? '' : ` → backend ${explanation.backend}`;
  const end = `└ ${explanation.status}${to}  ${because.code}`;
  return [head, ...stepLines(steps, because), end].join('\n');
}

/** Each step with its place. */
export function locatedSteps(steps: Iterable<Step>, locate: Locate): LocatedStep[] {
  const placeOf = (pointer: string | null): Place | null => (pointer === null ? null : locate(pointer));
  return Array.from(steps, ({ inner, ...step }) => ({
    ...step,
    place: placeOf(step.pointer),
    ...(inner && { inner: inner.map((each) => ({ ...each, place: placeOf(each.pointer) })) }),
  }));
}

/** The branches of the tree for a terminal: one line per step, the deciding one marked, with the steps inside it. */
export function stepLines(steps: readonly LocatedStep[], because: LocatedStep): string[] {
  const lines: string[] = [];
  const width = Math.max(...steps.map((step) => step.module.length));
  for (const step of steps) {
    const mark = step === because ? (step.verdict === 'stop' ? '■' : '●') : ' ';
    const facts = Object.entries(step.detail).map(([name, value]) => `${name}=${String(value)}`);
    const fact = facts.length === 0 ? '' : ` (${facts.join(', ')})`;
    lines.push(
      `├ ${mark} ${step.module.padEnd(width)}  ${step.verdict}  ${step.says}${fact}${placed(step.place)}`,
    );
    for (const inner of step.inner ?? [])
      lines.push(
        `│ ${' '.repeat(width)}    ${inner.kind} ${inner.name}: ${inner.says}${placed(inner.place)}`,
      );
  }
  return lines;
}

function placed(place: Place | null): string {
  return place === null ? '' : `  ${place.file}:${place.line}:${place.column}`;
}

/** Does nothing: a call loads this module, where modules are loaded on first use. */
export function loadExplanations(): void {}
