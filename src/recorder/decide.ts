import { type CompiledEdge, beginExchange, compileEdge, refuseExchange } from '../edge/compile.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { TakeState } from '../edge/states.ts';
import type { AnswerTo, Answers, Because, Edit, Leaf, Question, World } from '../engine/contract.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { Pipeline } from '../engine/pipeline.ts';
import { answer, start } from '../engine/run.ts';
import type { AddressBook } from '../expression/vocabulary/facts.ts';
import { seededChance } from '../simulator/chance.ts';
import { NOTHING_MEASURED, OK_UPSTREAM } from '../simulator/constants.ts';
import { formatTarget } from '../http/target.ts';
import { horizonsOf } from './horizons.ts';
import { losesOf } from './handler_reads.ts';
import type { Observed } from './observed.ts';
import { type Unknown, Unknowns, watchUnknowns } from './unknowns.ts';

/** What one configuration does with one request of a log. */
export interface Decided {
  /** `stopped` by the edge, `forwarded` to a backend, or `closed` without a response. */
  readonly outcome: 'stopped' | 'forwarded' | 'closed';
  /** Who decided: a module type, `route` or `engine`. */
  readonly by: string;
  readonly code: string;
  /** JSON pointer of the rule or module that decided; null for the engine. */
  readonly pointer: string | null;
  readonly leaf: Leaf | null;
  /** Path and query as the backend sees them. */
  readonly target: string;
  /** 0 when the upstream's answer is not known, or there is none. */
  readonly status: number;
  readonly exchange: Exchange;
  /** The weights, where chance has chosen the backend: two configurations with equal ones choose alike. */
  readonly weights: string | null;
  /** What the decision hangs on and the log has lost; none when the decision is certain. */
  readonly unknown: readonly Unknown[];
}

/** A configuration under replay: its counters and breakers run on the clock of the log. */
export interface ReplayedEdge {
  readonly config: EdgeConfig;
  /** Whether each request is decided by itself: nothing is remembered of those before it, their time neither. */
  readonly isOrderless: boolean;
  readonly decide: (observed: Observed) => Decided;
}

export interface ReplayOptions {
  readonly addressBooks?: readonly AddressBook[];
  readonly adoptHosts?: 'none' | 'loopback' | 'any';
  readonly seed?: number | string;
}

const NO_BYTES = new Uint8Array(0);
const NOT_FETCHED: Answers['fetch'] = {
  failure: 'connect',
  detail: 'the log does not tell what was answered',
};
const CERTAIN: readonly Unknown[] = Object.freeze([]);

/** Prepares a checked configuration for a replay. */
export function replayedEdge(config: EdgeConfig, options: ReplayOptions = {}): ReplayedEdge {
  const unknowns = new Unknowns();
  let remembers = false;
  const take: TakeState = (_route, _module, _config, initial) => {
    remembers = true;
    return initial();
  };
  const edge = compileEdge(config, take, {
    watch: watchUnknowns(unknowns),
    ...(options.addressBooks && { addressBooks: options.addressBooks }),
    ...(options.adoptHosts && { adoptHosts: options.adoptHosts }),
  });
  const chance = seededChance(options.seed ?? 1);
  let line = 0;
  let nowMs = 0;
  const world: World = {
    nowMs: () => nowMs,
    random: () => {
      unknowns.drewChance = true;
      // Whatever a configuration has drawn before, the same line gives the same number.
      return chance.split(String(line)).random();
    },
  };
  const horizons = horizonsOf(config);
  const weights = JSON.stringify(config.backends);
  return {
    config,
    isOrderless: !remembers && !looksAtTime(config),
    decide: (observed) => {
      // Time does not go back, whatever the order of the log.
      if (observed.atMs > nowMs) nowMs = observed.atMs;
      ({ line } = observed);
      unknowns.begin(observed);
      const exchange = run(begin(edge, observed, world), observed, unknowns);
      losesOf(exchange, observed, unknowns);
      horizons.count(exchange, nowMs, unknowns);
      return decidedOf(exchange, unknowns, weights);
    },
  };
}

/** What compares times with the clock: of a log that is not in order, another part would have another clock. */
const TIMED = /jwt|webhook|oauth|oidc|saml|openid/;

function looksAtTime({ edges }: EdgeConfig): boolean {
  return Object.values(edges.https).some(({ routes }) =>
    routes.some((route) => {
      const { traffic_policy: policy, oauth, oidc, saml, webhook_verification: webhook } = route;
      const isGated = [oauth, oidc, saml, webhook].some((each) => each !== undefined);
      return isGated || TIMED.test(policy?.value ?? '');
    }),
  );
}

function begin(edge: CompiledEdge, { head, connection }: Observed, world: World): Exchange {
  if (!('refused' in head)) return beginExchange(edge, connection, head, world);
  const because = { code: head.refused, detail: { problem: head.says } };
  return refuseExchange(edge, connection, head.head, world, because);
}

/** Answers the engine's questions from the log; what the log does not tell is noted. */
function run(exchange: Exchange, observed: Observed, unknowns: Unknowns): Exchange {
  let question = start(exchange);
  while (question !== null) question = answer(exchange, answerTo(question, observed, unknowns));
  return exchange;
}

function answerTo(question: Question, observed: Observed, unknowns: Unknowns): AnswerTo<Question> {
  switch (question.ask) {
    case 'forward':
      unknowns.isUpstreamKnown = observed.upstream !== null;
      return observed.upstream ?? OK_UPSTREAM;
    case 'reply':
      return NOTHING_MEASURED;
    case 'body':
      if (observed.body === null) unknowns.note('request body', null);
      return bounded(observed.body ?? NO_BYTES, question.limitBytes);
    case 'response_body':
      return bounded(observed.upstreamBody ?? NO_BYTES, question.limitBytes);
    case 'fetch': {
      const { method, url } = question.request;
      const known = observed.fetched?.get(`${method} ${url}`);
      if (known === undefined) unknowns.note(`answer of ${url.replace(/[?#].*$/s, '')}`, null);
      return known ?? NOT_FETCHED;
    }
    case 'oidc':
    case 'signature':
      // What logins ask of others no log tells.
      unknowns.note(`answer of ${question.ask}`, null);
      return { failure: 'unavailable', detail: 'the log does not tell it' };
  }
}

function bounded(bytes: Uint8Array, limitBytes: number): Answers['body'] & Answers['response_body'] {
  return bytes.length > limitBytes ? { failure: 'too_large' } : { bytes };
}

function decidedOf(exchange: Exchange, unknowns: Unknowns, weights: string): Decided {
  const { attempts, request, response } = exchange;
  const last = attempts.length === 0 ? undefined : attempts[attempts.length - 1];
  const isForwarded = last !== undefined && exchange.ended === null && response !== null;
  const stop = stopOf(exchange);
  const because: Because = stop?.because ?? exchange.ended ?? exchange.routed;
  const isStandIn = isForwarded && stop === null && last.leaf.kind === 'static' && !unknowns.isUpstreamKnown;
  return {
    outcome: response === null ? 'closed' : stop === null && isForwarded ? 'forwarded' : 'stopped',
    by: stop?.module ?? (exchange.pipeline === null ? 'route' : isForwarded ? 'backend' : 'engine'),
    code: because.code,
    pointer: because.pointer ?? stop?.pointer ?? null,
    leaf: last?.leaf ?? null,
    target: formatTarget(request.path, request.query),
    status: isStandIn ? 0 : (response?.status ?? 0),
    exchange,
    weights: unknowns.drewChance ? weights : null,
    unknown: unknowns.found.length === 0 ? CERTAIN : [...unknowns.found],
  };
}

interface StopFound {
  readonly module: string;
  readonly pointer: string;
  readonly because: Because;
}

/** The verdict that stopped the request, or replaced the response. */
function stopOf({ pipeline, verdicts, responseVerdicts }: Exchange): StopFound | null {
  if (pipeline === null) return null;
  return stopIn(responseVerdicts, pipeline) ?? stopIn(verdicts, pipeline);
}

function stopIn(verdicts: Exchange['verdicts'], { slots }: Pipeline): StopFound | null {
  const index = verdicts.length - 1;
  const verdict = verdicts[index];
  if (verdict?.verdict !== 'stop') return null;
  const { module, pointer } = slots[index]!;
  return { module, pointer, because: verdict.because };
}

/** The header edits of a list: what two configurations may do differently to a request that both let through. */
export function headerEdits(edits: readonly Edit[]): readonly Edit[] {
  return edits.length === 0 ? edits : edits.filter(({ edit }) => edit === 'headers');
}
