import { type Look, type Paint, painter } from '../diagnostics/render.ts';
import { type Lasting, lastingKind } from '../http/lasting_response.ts';
import { queryWithoutSecrets } from '../http/secrets.ts';
import type { InnerStep } from '../engine/contract.ts';
import { Exchange } from '../engine/exchange.ts';
import { tunnelOf } from '../engine/module.ts';
import { type StreamExchange, isAllowed } from '../engine/stream_exchange.ts';
import type { TraceContext } from '../engine/trace_context.ts';
import { type Step, decidingStep, traceOf } from '../engine/trace.ts';

/** A place in the edge file. */
export interface Place {
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
export interface LocatedInnerStep extends InnerStep {
  readonly place: Place | null;
}

/** Why an exchange went as it did. */
interface Explained {
  /** When it began, ms since the epoch. */
  readonly startMs: number;
  /** The backend that answered or took the connection, or the last that was tried; null when none was. */
  readonly backend: string | null;
  /** The agent's tunnel to that backend: its id, in scenarios the name of the agent; null for other backends. */
  readonly tunnel: string | null;
  readonly decidedBy: LocatedStep;
  readonly steps: readonly LocatedStep[];
}

/** The result of a request, and why. */
export interface Explanation extends Explained {
  readonly request: { readonly method: string; readonly url: string; readonly clientIp: string };
  readonly status: number;
  /** The response lasts as long as its connection, or did. */
  readonly lasting?: Lasting;
  /** The upstream closed its connection before the end of its response. */
  readonly truncated?: true;
  /** The place in a trace, if requests are traced. */
  readonly trace?: TraceContext;
}

/** What decided an exchange, and its destination: the part of the explanation shown in a list row. */
export type Decision = Pick<Explained, 'decidedBy' | 'backend' | 'tunnel'>;

/** The result of a request without its steps, as in a line of a log. */
export interface RequestSummary
  extends Decision, Pick<Explanation, 'startMs' | 'status' | 'lasting' | 'truncated'> {
  readonly method: string;
  /** Without the port. */
  readonly host: string;
  /** Path and query, without credentials that the query had. */
  readonly target: string;
}

/** The result of a connection, and why. */
export interface StreamExplanation extends Explained {
  readonly connection: {
    readonly kind: 'tls' | 'tcp' | null;
    /** The host and port that the client connected to. */
    readonly endpoint: string;
    readonly clientIp: string;
  };
  readonly outcome: 'allowed' | 'denied';
}

/** Explains a completed exchange; `locate` finds source positions. */
export function explanationOf(exchange: Exchange, locate: Locate): Explanation;
export function explanationOf(exchange: StreamExchange, locate: Locate): StreamExplanation;
export function explanationOf(
  exchange: Exchange | StreamExchange,
  locate: Locate,
): Explanation | StreamExplanation;
export function explanationOf(
  exchange: Exchange | StreamExchange,
  locate: Locate,
): Explanation | StreamExplanation {
  const steps = locatedSteps(traceOf(exchange), locate);
  const reached = reachedBy(exchange);
  const decidedBy = decidingStep(steps) as LocatedStep;
  const { connection } = exchange;
  const clientIp = connection.client.text;
  if (exchange instanceof Exchange) {
    const { head, traceContext: trace } = exchange;
    const url = `${head.scheme}://${head.authority}${targetOf(exchange)}`;
    const request = { method: head.method, url, clientIp };
    return { request, ...resultOf(exchange), ...(trace && { trace }), ...reached, decidedBy, steps };
  }
  const { startMs, serverName, serverPort } = connection;
  const kind = exchange.pipeline?.kind ?? null;
  const outcome = isAllowed(exchange) ? 'allowed' : 'denied';
  const endpoint = `${serverName}:${serverPort}`;
  return { connection: { kind, endpoint, clientIp }, startMs, outcome, ...reached, decidedBy, steps };
}

/** The decision of an exchange alone, which is made for each request while a page is open. */
export function decisionOf(exchange: Exchange, locate: Locate): Decision {
  const [decidedBy] = locatedSteps([decidingStep(traceOf(exchange))], locate);
  return { ...reachedBy(exchange), decidedBy: decidedBy! };
}

/** The result of a completed request; `locate` finds source positions. */
export function summaryOf(exchange: Exchange, locate: Locate): RequestSummary {
  const { method, host } = exchange.head;
  const target = targetOf(exchange);
  return { method, host, target, ...resultOf(exchange), ...decisionOf(exchange, locate) };
}

/** Path and query, without credentials and what policies have read as secrets. */
function targetOf({ head: { path, query }, configuration }: Exchange): string {
  const target = query === undefined ? path : `${path}?${queryWithoutSecrets(query, path)}`;
  const redact = configuration.redactor();
  return redact === null ? target : redact(target);
}

function resultOf({
  response,
  sent,
  startMs,
}: Exchange): Pick<Explanation, 'startMs' | 'status' | 'lasting' | 'truncated'> {
  const status = response?.status ?? 0;
  const lasting = response === null ? null : lastingKind(response);
  if (lasting !== null) return { startMs, status, lasting };
  return sent?.cut === 'upstream' ? { startMs, status, truncated: true } : { startMs, status };
}

function reachedBy({ attempts }: Exchange | StreamExchange): Pick<Explained, 'backend' | 'tunnel'> {
  const last = attempts.at(-1)?.endpoint;
  return last === undefined ? { backend: null, tunnel: null } : { backend: last.id, tunnel: tunnelOf(last) };
}

/** The subject of an explanation and the client: `GET https://shop.test/` and `192.0.2.1`. */
export function subjectOf(explanation: Explanation | StreamExplanation): readonly [string, string] {
  if ('request' in explanation) {
    const { method, url, clientIp } = explanation.request;
    return [method === '' ? 'bytes that are not an HTTP request' : `${method} ${url}`, clientIp];
  }
  const { kind, endpoint, clientIp } = explanation.connection;
  return [`${kind ?? 'connection'} to ${endpoint}`, clientIp];
}

/** The explanation as a tree for a terminal; one line per step, the deciding one marked, and coloured as in the log. */
export function renderExplanation(
  explanation: Explanation | StreamExplanation,
  look: Pick<Look, 'color'> = { color: false },
): string {
  const { steps, decidedBy, backend, tunnel } = explanation;
  const result = 'request' in explanation ? String(explanation.status) : explanation.outcome;
  const through = tunnel === null ? '' : ` through tunnel ${tunnel}`;
  const to = backend === null || result === 'denied' ? '' : ` → backend ${backend}${through}`;
  const [subject, clientIp] = subjectOf(explanation);
  const end = `└ ${result}${to}  ${decidedBy.code}`;
  return [`${subject}  from ${clientIp}`, ...stepLines(steps, decidedBy, painter(look)), end].join('\n');
}

/** Each step with its place. */
export function locatedSteps(steps: Iterable<Step>, locate: Locate): LocatedStep[] {
  const placeOf = (pointer: string | null): Place | null => (pointer === null ? null : locate(pointer));
  const locatedInner = (step: InnerStep): LocatedInnerStep => ({ ...step, place: placeOf(step.pointer) });
  const located: LocatedStep[] = [];
  for (const step of steps) {
    // Its members by name: with a page open this is done for each request, and object rest syntax takes ten times as long.
    const { phase, module, verdict, code, message, detail, pointer, inner } = step;
    const own = { phase, module, verdict, code, message, detail, pointer, place: placeOf(pointer) };
    if (inner === undefined) located.push(own);
    else located.push({ ...own, inner: inner.map(locatedInner) });
  }
  return located;
}

/** The branches of the tree for a terminal: one line per step, the deciding one marked, with the steps inside it. */
function stepLines(steps: readonly LocatedStep[], decidedBy: LocatedStep, paint: Paint): string[] {
  const lines: string[] = [];
  const width = Math.max(...steps.map((step) => step.module.length));
  for (const step of steps) {
    const mark = step === decidedBy ? (step.verdict === 'stop' ? '■' : '●') : ' ';
    const facts = Object.entries(step.detail).map(([name, value]) => `${name}=${String(value)}`);
    const fact = facts.length === 0 ? '' : ` (${facts.join(', ')})`;
    const text = `${mark} ${step.module.padEnd(width)}  ${step.verdict}  ${step.message}${fact}${placed(step.place)}`;
    const tone = step.verdict === 'stop' ? 'red' : 'green';
    lines.push(`├ ${step === decidedBy ? paint(tone, text) : text}`);
    for (const inner of step.inner ?? [])
      lines.push(
        `│ ${' '.repeat(width)}    ${inner.kind} ${inner.name}: ${inner.message}${placed(inner.place)}`,
      );
  }
  return lines;
}

function placed(place: Place | null): string {
  return place === null ? '' : `  ${place.file}:${place.line}:${place.column}`;
}
