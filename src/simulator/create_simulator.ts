import { type CompiledEdge, compileEdge } from '../edge/compile.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { type LocatedStep, explanationOf } from '../edge/explain.ts';
import type { SecretSource } from '../edge/secrets.ts';
import type { HttpRequestCompleteEvent } from '../events/catalogue.ts';
import { type IdMaker, idMaker } from '../events/identifiers.ts';
import { httpRequestComplete } from '../events/project.ts';
import { timestamp } from '../events/timestamps.ts';
import type { FieldList } from '../http/fields.ts';
import { hasErrors } from '../diagnostics/diagnostic.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { plainDocument } from '../document/document.ts';
import { reportWith } from '../document/report.ts';
import { DEFAULT_START_MS, defaultHost, dialledBackends } from './compile_case.ts';
import { compileUpstreams } from './document/answers.ts';
import { durationMs, timeMs } from './document/durations.ts';
import { prepareRequest } from './document/requests.ts';
import type { RequestConfig, UpstreamConfig } from './document/schema.ts';
import { fieldValues } from './expect/outcome.ts';
import type { Flight, Seen } from './flight.ts';
import { simulatedGround } from '../edge/gates.ts';
import { SIMULATED_PROVIDER } from '../development_idp/simulated.ts';
import { SIMULATED_KEY } from '../development_idp/simulated_key.ts';
import { readIdentities } from '../development_idp/identities.ts';
import { type SimulatedWorld, putUpstreams, simulatedWorld } from './simulator.ts';

export interface SimulatorOptions {
  /** Seed of chance; default 1. */
  readonly seed?: number | string;
  /** When it begins: RFC 3339, or milliseconds since the epoch; default the beginning of 2026. */
  readonly clock?: string | number;
  /** Secrets of policies, by vault and name. */
  readonly secrets?: SecretSource;
}

/** A request that was answered. */
export interface SimulatedExchange {
  /** 0 when there was no response. */
  readonly status: number;
  readonly headers: FieldList;
  /** Values of a field of the response, joined; null when it is absent. */
  readonly header: (name: string) => string | null;
  readonly text: string;
  /** Backend that answered or was tried last; null when none was reached. */
  readonly backend: string | null;
  /** What the last upstream saw; null when none was reached. */
  readonly upstream: Seen | null;
  /** Virtual milliseconds from request to response. */
  readonly durationMs: number;
  readonly event: HttpRequestCompleteEvent;
  readonly because: LocatedStep;
  readonly steps: readonly LocatedStep[];
}

/** An edge on a virtual clock, with scripted upstreams. */
export interface Simulator {
  /** Milliseconds since the epoch, virtual. */
  readonly nowMs: () => number;
  /** Sends a request and lets time pass until it is answered. `GET /path`, or the request of a scenario. */
  readonly send: (request: string | RequestConfig) => SimulatedExchange;
  /** Sends many, one every so often; gives them in the order of sending, when all are answered. */
  readonly sendMany: (
    request: string | RequestConfig,
    count: number,
    every: string | number,
  ) => readonly SimulatedExchange[];
  /** Lets time pass: a duration such as `31s`, or milliseconds. */
  readonly advance: (time: string | number) => void;
  /** What a backend answers from now on: a status, a fault or the script of a scenario. */
  readonly upstream: (backend: string, script: UpstreamConfig) => void;
  /** Says who `as` means from now on, such as `{ email: 'a@example.test' }`; `{ active: false }` is known no more. */
  readonly identity: (name: string, facts: Readonly<Record<string, unknown>>) => void;
  /** Events of all requests so far, in the order in which they were complete. */
  readonly events: () => readonly HttpRequestCompleteEvent[];
}

/**
 * Simulates an edge. The same edge, seed, clock and calls give the same events, byte for byte. Throws a TypeError
 * for what cannot be sent or scripted.
 */
export function createSimulator(
  edge: { readonly config: EdgeConfig },
  options: SimulatorOptions = {},
): Simulator {
  const { config } = edge;
  const landed: Flight[] = [];
  const world = simulatedWorld(compiledFor(config, options), {
    startMs: startOf(options.clock),
    seed: options.seed ?? 1,
    identities: [],
    landed: (flight) => void landed.push(flight),
  });
  const identities: Record<string, unknown> = {};
  const events = eventsOf(landed, idMaker('ev', world.chance.split('event ids').random));
  const prepare = (request: string | RequestConfig) =>
    orThrow((report) =>
      prepareRequest(request, '', {
        defaults: {},
        host: defaultHost(config),
        tls: null,
        startMs: world.clock.nowMs(),
        signer: null,
        report,
      }),
    );
  const exchange = (flight: Flight) => exchangeOf(flight, () => events()[landed.indexOf(flight)]!);
  return {
    nowMs: world.clock.nowMs,
    send: (request) => {
      let last: Flight | null = null;
      world.begin(prepare(request), (flight) => void (last = flight));
      settle(world, () => last !== null);
      if (last === null) throw new Error('the request was not answered');
      return exchange(last);
    },
    sendMany: (request, count, every) => {
      const prepared = prepare(request);
      const startMs = world.clock.nowMs();
      const flights: Flight[] = [];
      for (let turn = 0; turn < count; turn++) {
        world.clock.schedule(
          startMs + turn * millisecondsOf(every),
          () => void flights.push(world.begin(prepared)),
        );
      }
      settle(world, () => flights.length === count && flights.every(({ endMs }) => !Number.isNaN(endMs)));
      return flights.map((flight) => exchange(flight));
    },
    advance: (time) => world.clock.advanceTo(world.clock.nowMs() + millisecondsOf(time)),
    upstream: (backend, script) => {
      const scripts = orThrow((report) =>
        compileUpstreams({ [backend]: script }, '', dialledBackends(config), report),
      );
      putUpstreams(world.upstreams, scripts);
    },
    identity: (name, facts) => {
      identities[name] = facts;
      const { identities: read, problems } = readIdentities(identities);
      const [problem] = problems;
      if (problem !== undefined) throw new TypeError(`${problem.key}: ${problem.says}`);
      world.identify(read);
    },
    events,
  };
}

function settle({ clock }: SimulatedWorld, isDone: () => boolean): void {
  while (!isDone() && clock.step());
}

/** Makes each event once, when it is first asked for. */
function eventsOf(landed: readonly Flight[], newId: IdMaker): () => readonly HttpRequestCompleteEvent[] {
  const made: HttpRequestCompleteEvent[] = [];
  return () => {
    for (const { exchange, endMs } of landed.slice(made.length)) {
      made.push({
        event_id: newId(endMs),
        event_type: 'http_request_complete.v0',
        event_timestamp: timestamp(endMs),
        object: httpRequestComplete(exchange),
      });
    }
    return made;
  };
}

function exchangeOf(flight: Flight, event: () => HttpRequestCompleteEvent): SimulatedExchange {
  const { response, exchange } = flight;
  const { because, steps } = explanationOf(exchange, () => null);
  return {
    status: response.status,
    headers: response.headers,
    header: (name) => {
      const values = fieldValues(response.headers, name);
      return values.length === 0 ? null : values.join(', ');
    },
    text: new TextDecoder().decode(response.body),
    backend: exchange.attempts.at(-1)?.leaf.id ?? null,
    upstream: flight.seen?.at(-1) ?? null,
    durationMs: flight.endMs - flight.sentMs,
    get event() {
      return event();
    },
    because,
    steps,
  };
}

function orThrow<T>(make: (report: ReturnType<typeof reportWith<string>>) => T | null): T {
  const findings: Diagnostic[] = [];
  const made = make(reportWith<string>(findings, plainDocument(undefined), () => 'error'));
  if (made === null || hasErrors(findings)) {
    throw new TypeError(
      findings.map(({ says, hint }) => (hint === undefined ? says : `${says}; ${hint}`)).join('; '),
    );
  }
  return made;
}

function startOf(clock: string | number | undefined): number {
  if (clock === undefined) return DEFAULT_START_MS;
  const ms = typeof clock === 'number' ? clock : timeMs(clock);
  if (Number.isNaN(ms)) throw new TypeError(`'${clock}' is not a time such as 2026-01-01T00:00:00Z`);
  return ms;
}

function millisecondsOf(time: string | number): number {
  const ms = typeof time === 'number' ? time : durationMs(time);
  if (!(ms >= 0)) throw new TypeError(`'${time}' is not a duration such as 31s`);
  return ms;
}

/** The edge compiled anew, nothing remembered. */
function compiledFor(config: EdgeConfig, { secrets }: SimulatorOptions): CompiledEdge {
  const options = { ...(secrets && { secrets }), logins: simulatedGround(SIMULATED_PROVIDER, SIMULATED_KEY) };
  return compileEdge(config, (_route, _module, _config, initial) => initial(), options);
}
