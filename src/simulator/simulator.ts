import type { Connection, RequestHead, World } from '../engine/contract.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { RefusedHead } from '../engine/request_head.ts';
import type { CompiledEdge, beginExchange } from '../edge/compile.ts';
import { beginStated, beginGiven } from '../edge/connect.ts';
import { type Chance, seededChance } from '../engine/drivers/seeded_chance.ts';
import type { Identity } from '../dev_idp/identities.ts';
import { type SimulatedIdentities, simulatedIdentities } from '../dev_idp/simulated.ts';
import { DEFAULT_LIMITS, type VirtualLimits, drive } from './driver.ts';
import { type SimulatedRequest, NO_RESPONSE } from './simulated_request.ts';
import type { PreparedRequest } from './prepared_request.ts';
import { type SimulatedBrowsers, simulatedBrowsers } from './sessions.ts';
import { type UpstreamScript, type Upstreams, scriptedUpstreams } from './upstreams.ts';
import { type VirtualClock, virtualClock } from './virtual_clock.ts';

export type { PreparedRequest };

/** The initial state of a simulated world. */
export interface WorldOptions {
  /** Milliseconds since the epoch. */
  readonly startMs: number;
  readonly seed: number | string;
  readonly limits?: Partial<VirtualLimits>;
  /** Called with each completed exchange, in the order of completion. */
  readonly completed?: (simulated: SimulatedRequest) => void;
  /** Called with each request before any decision about it. */
  readonly sent?: (simulated: SimulatedRequest) => void;
  /** Replaces seeded randomness: for the enumeration of all outcomes. */
  readonly random?: () => number;
  /** Replaces the edge's own start of exchanges: for tests that inject faults. */
  readonly begin?: typeof beginExchange;
  /** Users who can log in; if empty, no provider can be reached. */
  readonly identities?: readonly Identity[];
}

/**
 * An edge in a world with virtual time and seeded randomness: the same seed and script give the same result,
 * byte for byte.
 */
export interface SimulatedWorld {
  readonly clock: VirtualClock;
  readonly chance: Chance;
  readonly upstreams: Upstreams;
  /** Number of requests started so far. */
  readonly begun: () => number;
  /** Starts a request now; without delays it is complete on return. */
  readonly begin: (
    request: PreparedRequest,
    done?: (simulated: SimulatedRequest) => void,
  ) => SimulatedRequest;
  /** Replaces the identities. */
  readonly identify: (identities: readonly Identity[]) => void;
  /** Runs everything that is scheduled. */
  readonly settle: () => void;
}

/** Runs a compiled edge in its own world. */
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
  // Most worlds have no identities.
  const providers = (): SimulatedIdentities =>
    (made ??= simulatedIdentities(options.identities ?? [], clock.nowMs, seededSecrets(chance)));
  const stage = {
    clock,
    upstreams,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    // Without identities a script may answer for a provider.
    ...(options.identities === undefined ? {} : { providers: providers() }),
  };
  const { completed, sent, begin = beginStated } = options;
  let count = 0;

  const land = (simulated: SimulatedRequest): void => {
    simulated.endMs = clock.nowMs();
    // The callback may send the next request at once, which comes after this one.
    if (completed !== undefined) completed(simulated);
    if (simulated.done !== null) simulated.done(simulated);
  };
  const exchangeOf = (head: RequestHead | RefusedHead, connection: Connection): Exchange =>
    beginGiven(edge, connection, head, world, begin);
  const send = (given: PreparedRequest, done?: (simulated: SimulatedRequest) => void): SimulatedRequest => {
    const nowMs = clock.nowMs();
    const request = given.signedAt === undefined ? given : given.signedAt(nowMs);
    const connection = { ...request.connection, startMs: nowMs };
    const simulated = simulatedRequestOf(
      count++,
      exchangeOf(request.head, connection),
      request.body,
      nowMs,
      done ?? null,
    );
    sent?.(simulated);
    drive(simulated, stage, land, request.leaveAfterMs);
    return simulated;
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

function simulatedRequestOf(
  index: number,
  exchange: Exchange,
  requestBody: Uint8Array,
  sentMs: number,
  done: SimulatedRequest['done'],
): SimulatedRequest {
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

/** Random bytes that are the same for the same seed. */
function seededBytes({ random }: Chance): (count: number) => Uint8Array {
  return (count) => Uint8Array.from({ length: count }, () => Math.floor(random() * 256));
}

function seededSecrets(chance: Chance): () => string {
  const bytes = seededBytes(chance.split('identities'));
  return () => Buffer.from(bytes(16)).toString('base64url');
}

/** Activates scripts. */
export function putUpstreams(upstreams: Upstreams, scripts: ReadonlyMap<string, UpstreamScript>): void {
  for (const [name, script] of scripts) upstreams.set(name, script);
}
