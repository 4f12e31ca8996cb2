import { type CompileOptions, type CompiledEdge, compileEdge } from '../edge/compile.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { Reason, World } from '../engine/contract.ts';
import type { AnswerTo, Answers, Question } from '../engine/questions.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { CompiledFilter, Pipeline } from '../engine/pipeline.ts';
import type { Watch } from '../filters/evaluators.ts';
import type { GeoipDatabase } from '../policy/env/facts.ts';
import { seededChance } from '../engine/drivers/seeded_chance.ts';
import { HTTP_ENGINE, type HttpDriver, converse } from '../engine/drivers/converse.ts';
import { NO_BYTES } from '../engine/drivers/reply_content.ts';
import { WITHOUT_NETWORK, bounded } from '../engine/drivers/whole_bodies.ts';
import { NOTHING_MEASURED, OK_UPSTREAM } from '../engine/drivers/constant.ts';
import { counterWindowsOf } from './counter_windows.ts';
import { lostInputsOf, partsOf } from './filter_inputs.ts';
import type { HashKey } from './keyed_hashes.ts';
import type { LogRecord } from './log_record.ts';
import { readsTime } from './reads.ts';
import { beginGiven } from '../edge/connect.ts';
import type { Decided, LocalBody } from './decided.ts';
import { ReplayedStates } from './replayed_states.ts';
import { recordedTunnels } from './recorded_tunnels.ts';
import { choicesOf, scopesOf } from './replayed_config.ts';
import { type Assumed, NOTHING_ASSUMED, Unknowns, watchUnknowns } from './unknowns.ts';

/** A configuration in a replay: its counters and breakers run on the clock of the log. */
export interface ReplayedEdge {
  readonly config: EdgeConfig;
  /** Whether requests are decided independently, without state or time carried over from earlier ones. */
  readonly isOrderless: boolean;
  readonly decide: (record: LogRecord) => Decided;
  /**
   * Decides a record without effect on counters, with conditions over missing values as assumed; for routes without
   * counters only.
   */
  readonly suppose: (record: LogRecord, assumed: Assumed) => Decided;
  /** Whether an edge has the host of a URL. */
  readonly hasHostOf: (url: string) => boolean;
  /** All of the configuration that decides about such requests, as text. */
  readonly scopeOf: (decided: Decided) => string;
  /** Puts the clock, counters and breakers back to the beginning, for another log. */
  readonly restart: () => void;
}

export interface ReplayOptions {
  readonly geoipDatabases?: readonly GeoipDatabase[];
  /** Default none. */
  readonly adoptHosts?: CompileOptions['adoptHosts'];
  readonly seed?: number | string;
  /** The key of the hashes in recordings, to compare redacted values with texts of the configuration. */
  readonly hashKey?: HashKey | null;
  /** What policies may read with `secrets.get`; default none. */
  readonly secrets?: CompileOptions['secrets'];
  /** Lets requests pass policy actions that are not simulated. */
  readonly passUnsimulated?: boolean;
  /** `full` with a `watch` that evaluates expressions: for explanations. Default `decided`. */
  readonly trace?: 'decided' | 'full';
  readonly watch?: Watch;
  /** Replaces the filters of the edge, to measure them. */
  readonly filtersOf?: (filters: readonly CompiledFilter[]) => readonly CompiledFilter[];
}

const NOT_FETCHED: Answers['fetch'] = {
  failure: 'connect',
  detail: 'the response is missing in the log',
};
const CERTAIN: Decided['unknown'] = Object.freeze([]);

/** Prepares a checked configuration for a replay. */
export function replayedEdge(config: EdgeConfig, options: ReplayOptions = {}): ReplayedEdge {
  const real = decider(config, options);
  let supposing: Decider | null = null;
  return {
    config,
    isOrderless: real.isOrderless,
    hasHostOf: real.hasHostOf,
    decide: (record) => real.decide(record, NOTHING_ASSUMED),
    suppose: (record, assumed) => (supposing ??= decider(config, options)).decide(record, assumed),
    scopeOf: scopesOf(config),
    restart: real.restart,
  };
}

interface Decider {
  readonly isOrderless: boolean;
  readonly hasHostOf: ReplayedEdge['hasHostOf'];
  readonly decide: (record: LogRecord, assumed: Assumed) => Decided;
  readonly restart: () => void;
}

/** A configuration with its counters and breakers. */
function decider(config: EdgeConfig, options: ReplayOptions): Decider {
  const unknowns = new Unknowns(options.hashKey);
  const states = new ReplayedStates();
  const watch = watchUnknowns(unknowns);
  let comparesTime = false;
  const edge = compileEdge(config, states.take, {
    watch: (program, ...place) => {
      comparesTime ||= readsTime(program.typed);
      const observed = options.watch?.(program, ...place);
      return watch(observed === undefined ? program : { ...program, evaluate: observed }, ...place);
    },
    ...(options.trace && { trace: options.trace }),
    ...(options.secrets && { secrets: options.secrets }),
    ...(options.passUnsimulated && { passUnsimulated: true }),
    ...(options.geoipDatabases && { geoipDatabases: options.geoipDatabases }),
    ...(options.adoptHosts && { adoptHosts: options.adoptHosts }),
  });
  const isAdopted = options.adoptHosts === 'any' && edge.sole !== null;
  const pipelines = edge.https.flatMap((each) => each.pipelines);
  if (options.filtersOf !== undefined)
    for (const pipeline of pipelines)
      Object.assign(pipeline, { filters: options.filtersOf(pipeline.filters) });
  const chance = seededChance(options.seed ?? 1);
  let line = 0;
  let nowMs = 0;
  const world: World = {
    nowMs: () => nowMs,
    // The same line gives the same random number, however many numbers were drawn before.
    random: () => chance.split(String(line)).random(),
    tunnels: recordedTunnels(config, unknowns),
  };
  let counterWindows = counterWindowsOf(edge);
  const choiceOf = choicesOf(config);
  return {
    hasHostOf: (url) => edge.hosts.find(url.replace(/^\w+:\/\//, '')) !== null,
    isOrderless: states.isEmpty && !comparesTime && !readsClock(edge),
    decide: (record, assumed) => {
      // Time never goes back, whatever the order of the log.
      if (record.atMs > nowMs) nowMs = record.atMs;
      ({ line } = record);
      unknowns.begin(record, assumed);
      const exchange = beginGiven(edge, record.connection, record.head, world);
      const driver = new RecordedDriver(record, unknowns);
      converse(HTTP_ENGINE, exchange, driver);
      // Without a host it is not known whose request this is, unless all are requests for one edge.
      if (record.lost.has('host') && !isAdopted) unknowns.note('host', null);
      lostInputsOf(exchange, record, unknowns);
      counterWindows.count(exchange, nowMs, unknowns);
      if (exchange.ended?.code === 'engine.bug')
        unknowns.note(`${FAULT}${String(exchange.ended.detail['message'])}`, null);
      return decidedOf(exchange, unknowns, choiceOf(exchange), driver.body);
    },
    restart: () => {
      states.restart(pipelines);
      counterWindows = counterWindowsOf(edge);
      nowMs = 0;
    },
  };
}

/** How an unknown begins that is a fault of the engine: no outcome at all. */
export const FAULT = 'a fault of the engine: ';

/** The driver of one record. */
class RecordedDriver implements HttpDriver {
  /** The body of the edge's own response. */
  body: LocalBody | null = null;
  private readonly record: LogRecord;
  private readonly unknowns: Unknowns;

  constructor(record: LogRecord, unknowns: Unknowns) {
    this.record = record;
    this.unknowns = unknowns;
  }

  ask(question: Question): AnswerTo<Question> {
    if (question.ask === 'reply' && question.reply.body !== 'upstream') this.body = question.reply.body;
    return answerTo(question, this.record, this.unknowns);
  }
}

/**
 * Whether modules or actions compare times with the clock: if the log is not in order, the parts of a parallel
 * replay would have different clocks.
 */
function readsClock({ https }: CompiledEdge): boolean {
  const filters = https.flatMap(({ pipelines }) => pipelines.flatMap((each) => each.filters));
  return filters.some((filter) => partsOf(filter).some(({ reads }) => reads.includes('clock')));
}

/** The answer of the log; notes what the log does not have. */
function answerTo(question: Question, record: LogRecord, unknowns: Unknowns): AnswerTo<Question> {
  switch (question.ask) {
    case 'forward':
      unknowns.isUpstreamKnown = record.upstream !== null;
      return record.upstream ?? OK_UPSTREAM;
    case 'reply':
      return NOTHING_MEASURED;
    case 'body':
      if (record.body === null) unknowns.note('request body', null);
      return bounded(record.body ?? NO_BYTES, question.limitBytes);
    case 'response_body':
      return bounded(record.upstreamBody ?? NO_BYTES, question.limitBytes);
    case 'fetch': {
      const { method, url } = question.request;
      const known = record.fetched?.get(`${method} ${url}`);
      if (known === undefined) unknowns.note(`answer of ${url.replace(/[?#].*$/s, '')}`, null);
      return known ?? NOT_FETCHED;
    }
    case 'shared':
      return WITHOUT_NETWORK.shared;
    case 'oidc':
    case 'signature':
      // Logs do not have the answers of identity providers.
      unknowns.note(`answer of ${question.ask}`, null);
      return { failure: 'unavailable', detail: 'it is missing in the log' };
  }
}

function decidedOf(
  exchange: Exchange,
  unknowns: Unknowns,
  choice: Decided['choice'],
  body: LocalBody | null,
): Decided {
  const { attempts, request, response } = exchange;
  const last = attempts.length === 0 ? undefined : attempts[attempts.length - 1];
  const isForwarded = last !== undefined && exchange.ended === null && response !== null;
  const stop = stopOf(exchange);
  const reason: Reason = stop?.reason ?? exchange.ended ?? exchange.routed;
  const isStandIn =
    isForwarded && stop === null && last.endpoint.kind === 'static' && !unknowns.isUpstreamKnown;
  return {
    outcome: response === null ? 'closed' : stop === null && isForwarded ? 'forwarded' : 'stopped',
    by: stop?.module ?? (exchange.pipeline === null ? 'route' : isForwarded ? 'backend' : 'engine'),
    code: reason.code,
    pointer: reason.pointer ?? stop?.pointer ?? null,
    endpoint: last?.endpoint ?? null,
    sent: request,
    status: isStandIn ? 0 : (response?.status ?? 0),
    exchange,
    choice,
    body,
    unknown: unknowns.found.length === 0 ? CERTAIN : [...unknowns.found],
  };
}

interface StopFound {
  readonly module: string;
  readonly pointer: string;
  readonly reason: Reason;
}

/** The verdict that stopped the request, or replaced the response. */
function stopOf({ pipeline, verdicts, responseVerdicts }: Exchange): StopFound | null {
  if (pipeline === null) return null;
  return stopIn(responseVerdicts, pipeline) ?? stopIn(verdicts, pipeline);
}

function stopIn(verdicts: Exchange['verdicts'], { filters }: Pipeline): StopFound | null {
  let index = verdicts.length - 1;
  while (index >= 0 && verdicts[index] === undefined) index--;
  const verdict = verdicts[index];
  if (verdict?.verdict !== 'stop') return null;
  const { module, pointer } = filters[index]!;
  return { module, pointer, reason: verdict.reason };
}
