import type { Connection, RequestHead, World } from '../engine/contract.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { RefusedHead } from '../engine/request_head.ts';
import { type CompiledEdge, beginExchange, refuseExchange } from '../edge/compile.ts';
import { type Chance, seededChance } from './chance.ts';
import type { Identity } from '../development_idp/identities.ts';
import { type SimulatedIdentities, simulatedIdentities } from '../development_idp/simulated.ts';
import { DEFAULT_LIMITS, type VirtualLimits, drive } from './driver.ts';
import { type Flight, NO_RESPONSE } from './flight.ts';
import type { PreparedRequest } from './prepared_request.ts';
import { type SimulatedBrowsers, simulatedBrowsers } from './sessions.ts';
import { type UpstreamScript, type Upstreams, scriptedUpstreams } from './upstreams.ts';
import { type VirtualClock, virtualClock } from './virtual_clock.ts';

export type { PreparedRequest };

/** What a simulated world begins with. */
export interface WorldOptions {
  /** Milliseconds since the epoch. */
  readonly startMs: number;
  readonly seed: number | string;
  readonly limits?: Partial<VirtualLimits>;
  /** Called with each exchange that is complete, in the order of completion. */
  readonly landed?: (flight: Flight) => void;
  /** Called with each request before anything is decided about it. */
  readonly sent?: (flight: Flight) => void;
  /** Instead of seeded chance: for the walk over all outcomes. */
  readonly random?: () => number;
  /** Begins exchanges instead of the edge: for tests that plant faults in it. */
  readonly begin?: typeof beginExchange;
  /** Who can log in; with none, no provider can be reached. */
  readonly identities?: readonly Identity[];
}

/** An edge in a world whose time and chance are made: the same seed and script give the same, byte for byte. */
export interface SimulatedWorld {
  readonly clock: VirtualClock;
  readonly chance: Chance;
  readonly upstreams: Upstreams;
  /** Requests begun so far. */
  readonly begun: () => number;
  /** Begins a request now; when nothing takes time it is complete on return. */
  readonly begin: (request: PreparedRequest, done?: (flight: Flight) => void) => Flight;
  /** Puts other identities in force. */
  readonly identify: (identities: readonly Identity[]) => void;
  /** Lets everything happen that is under way. */
  readonly settle: () => void;
}

/** Runs a compiled edge in a world of its own. */
export function simulatedWorld(edge: CompiledEdge, options: WorldOptions): SimulatedWorld {
  const clock = virtualClock(options.startMs);
  const chance = seededChance(options.seed);
  const upstreams = scriptedUpstreams(chance.split('latency'));
  const world: World = {
    nowMs: clock.nowMs,
    random: options.random ?? chance.split('edge').random,
    secretBytes: seededBytes(chance.split('secrets')),
  };
  let made: SimulatedIdentities | null = null;
  // Most worlds have nobody who logs in.
  const providers = (): SimulatedIdentities =>
    (made ??= simulatedIdentities(options.identities ?? [], clock.nowMs, seededSecrets(chance)));
  const stage = {
    clock,
    upstreams,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    // Without identities a script may answer for a provider.
    ...(options.identities === undefined ? {} : { providers: providers() }),
  };
  const { landed, sent, begin = beginExchange } = options;
  let count = 0;

  const land = (flight: Flight): void => {
    flight.endMs = clock.nowMs();
    // Whoever waits for it may send the next one at once, which comes after it.
    if (landed !== undefined) landed(flight);
    if (flight.done !== null) flight.done(flight);
  };
  const exchangeOf = (head: RequestHead | RefusedHead, connection: Connection): Exchange =>
    'refused' in head
      ? refuseExchange(edge, connection, head.head, world, {
          code: head.refused,
          detail: { problem: head.says },
        })
      : begin(edge, connection, head, world);
  const send = (given: PreparedRequest, done?: (flight: Flight) => void): Flight => {
    const nowMs = clock.nowMs();
    const request = given.signedAt === undefined ? given : given.signedAt(nowMs);
    const connection = { ...request.connection, startMs: nowMs };
    const flight = flightOf(count++, exchangeOf(request.head, connection), request.body, nowMs, done ?? null);
    sent?.(flight);
    drive(flight, stage, land, request.leaveAfterMs);
    return flight;
  };
  let browsers: SimulatedBrowsers | null = null;
  return {
    clock,
    chance,
    upstreams,
    begun: () => count,
    begin: (request, done) =>
      request.as === undefined
        ? send(request, done)
        : (browsers ??= simulatedBrowsers(providers(), send)).visit(request.as, request, done ?? (() => {})),
    identify: (identities) => providers().replace(identities),
    settle: () => {
      while (clock.step());
    },
  };
}

function flightOf(
  index: number,
  exchange: Exchange,
  requestBody: Uint8Array,
  sentMs: number,
  done: Flight['done'],
): Flight {
  return {
    index,
    exchange,
    requestBody,
    sentMs,
    endMs: Number.NaN,
    seen: null,
    fetched: null,
    response: NO_RESPONSE,
    done,
  };
}

/** Secrets that are the same for the same seed. */
function seededBytes({ random }: Chance): (count: number) => Uint8Array {
  return (count) => Uint8Array.from({ length: count }, () => Math.floor(random() * 256));
}

function seededSecrets(chance: Chance): () => string {
  const bytes = seededBytes(chance.split('identities'));
  return () => Buffer.from(bytes(16)).toString('base64url');
}

/** Puts scripts in force. */
export function putUpstreams(upstreams: Upstreams, scripts: ReadonlyMap<string, UpstreamScript>): void {
  for (const [name, script] of scripts) upstreams.set(name, script);
}
