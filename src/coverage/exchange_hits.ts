import { weakMemoize } from '../caches/weak_memoize.ts';
import type { Reason, InnerStep, Verdict } from '../engine/contract.ts';
import { Exchange } from '../engine/exchange.ts';
import type { CompiledFilter } from '../engine/pipeline.ts';
import type { StreamExchange } from '../engine/stream_exchange.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../filters/table.ts';

/** Keys of the counters; pointers are those of the edge file. */
export const keys = {
  route: (pointer: string) => `route ${pointer}`,
  host: (edge: string, host: string) => `host ${edge} ${host}`,
  path: (edge: string, path: string) => `path ${edge} ${path}`,
  module: (pointer: string) => `module ${pointer}`,
  rule: (pointer: string) => `rule ${pointer}`,
  action: (pointer: string) => `action ${pointer}`,
  reason: (pointer: string, code: string) => `reason ${pointer} ${code}`,
  stop: (route: string, module: string) => `stop ${route} ${module}`,
  address: (pointer: string, address: string) => `address ${pointer} ${address}`,
  backend: (route: string, endpoint: string) => `backend ${route} ${endpoint}`,
  expression: (pointer: string, start: number) => `${pointer}@${start}`,
} as const;

/** How often a thing was seen. */
interface Counter {
  count: number;
}

/** Counters by key. */
export interface HitTable {
  readonly counter: (key: string) => Counter;
  /** Counts keys with arbitrary text, of which only a limited number is kept. */
  readonly hitText: (key: string) => void;
  readonly count: (key: string) => number;
  readonly add: (key: string, count: number) => void;
  readonly all: () => Record<string, number>;
}

/** Maximum number of distinct hosts, paths and addresses per run. */
const TEXT_LIMIT = 20_000;
/** Keys that end with arbitrary text. */
const TEXTUAL = /^(?:host|path|address) /;

/** A table of counters; `isNew` receives each key that was not counted before. */
export function hitTable(isNew: (key: string, isText: boolean) => void): HitTable {
  const counters = new Map<string, Counter>();
  let texts = 0;
  const counter = (key: string): Counter => {
    let known = counters.get(key);
    if (known === undefined) {
      counters.set(key, (known = { count: 0 }));
      isNew(key, false);
    }
    return known;
  };
  return {
    counter,
    hitText: (key) => {
      const known = counters.get(key);
      if (known !== undefined) known.count++;
      else if (texts < TEXT_LIMIT) {
        texts++;
        counters.set(key, { count: 1 });
        isNew(key, true);
      }
    },
    count: (key) => counters.get(key)?.count ?? 0,
    add: (key, count) => {
      if (TEXTUAL.test(key) && !counters.has(key)) texts++;
      counter(key).count += count;
    },
    all: () => Object.fromEntries(Array.from(counters, ([key, { count }]) => [key, count])),
  };
}

/** Modules, and actions of policies, that decide by client address. */
const ADDRESSED: ReadonlySet<string> = new Set(
  [...MODULE_FACTS.values(), ...ACTION_FACTS.values()]
    .filter(({ addressLists }) => addressLists !== undefined)
    .map(({ type }) => type),
);

/** Counts the results of requests and connections, including those of the internal endpoint of a request. */
export function exchangeCounter(hits: HitTable): (exchange: Exchange | StreamExchange) => void {
  const filterCounter = filterCounters(hits);
  const countFilter = (route: string, filter: CompiledFilter, verdict: Verdict, address: string): void => {
    filterCounter(filter, verdict);
    if (verdict.verdict === 'stop') hits.counter(keys.stop(route, filter.module)).count++;
    addressOf(hits, filter, verdict, address);
  };
  const count = (exchange: Exchange | StreamExchange): void => {
    const { pipeline, connection, verdicts, attempts } = exchange;
    const isRequest = exchange instanceof Exchange;
    if (pipeline !== null) {
      const { route, filters } = pipeline;
      hits.counter(keys.route(route)).count++;
      if (isRequest) {
        hits.hitText(keys.host(pipeline.edge, exchange.head.host));
        hits.hitText(keys.path(pipeline.edge, exchange.head.path));
      } else {
        const { serverName, serverPort } = connection;
        const { host, port } = exchange.forwardedTo ?? { host: serverName.toLowerCase(), port: serverPort };
        hits.hitText(keys.host(route, `${host}:${port}`));
      }
      for (const [index, filter] of filters.entries()) {
        const verdict = verdicts[index];
        const onResponse = isRequest ? exchange.responseVerdicts[index] : undefined;
        if (verdict !== undefined) countFilter(route, filter, verdict, connection.client.text);
        if (onResponse !== undefined) filterCounter(filter, onResponse);
      }
      for (const { endpoint } of attempts) hits.counter(keys.backend(route, endpoint.id)).count++;
    }
    if (exchange.inside !== null) count(exchange.inside);
    if (!isRequest) return;
    const { head, routed } = exchange;
    // A path without a route may belong to no edge; its host determines the edge.
    if (pipeline === null && routed.code === 'route.no_match')
      hits.hitText(keys.path(`?${head.host}`, head.path));
  };
  return count;
}

/** Counts the address that a module, or an action of a policy, decided about. */
function addressOf(
  hits: HitTable,
  { module, pointer }: CompiledFilter,
  { inner }: Verdict,
  address: string,
): void {
  if (ADDRESSED.has(module)) hits.hitText(keys.address(pointer, address));
  for (const step of inner ?? [])
    if (ADDRESSED.has(step.name)) hits.hitText(keys.address(step.pointer, address));
}

/** The counters of one filter, with short lookup keys, because there are many cases. */
interface FilterCounters {
  readonly ran: Counter;
  readonly codes: Map<string, Counter>;
  readonly rules: Map<string, Counter>;
}

function filterCounters(hits: HitTable): (filter: CompiledFilter, verdict: Verdict) => void {
  const countersOf = weakMemoize(({ pointer }: CompiledFilter): FilterCounters => ({
    ran: hits.counter(keys.module(pointer)),
    codes: new Map(),
    rules: new Map(),
  }));
  return (filter, { reason, inner }) => {
    const counters = countersOf(filter);
    const { code, pointer } = reason;
    counters.ran.count++;
    increment(counters.codes, code, () => hits.counter(keys.reason(filter.pointer, code)));
    if (pointer !== undefined && MODULE_FACTS.get(filter.module)?.runsActions !== true)
      increment(counters.rules, pointer, () => hits.counter(keys.rule(pointer)));
    if (inner !== undefined) countInner(hits, inner, reason);
  };
}

function increment(counters: Map<string, Counter>, key: string, make: () => Counter): void {
  let counter = counters.get(key);
  if (counter === undefined) counters.set(key, (counter = make()));
  counter.count++;
}

/** Counts the rules of a policy that applied, and the actions that ran. */
function countInner(hits: HitTable, inner: readonly InnerStep[], { code, detail, pointer }: Reason): void {
  for (const step of inner) {
    if (step.kind === 'rule') {
      if (step.code === 'rule.applied') hits.counter(keys.rule(step.pointer)).count++;
    } else {
      hits.counter(keys.action(step.pointer)).count++;
      hits.counter(keys.reason(step.pointer, step.code)).count++;
    }
  }
  // An action that failed has no step.
  if (code === 'traffic_policy.failed' && detail['action'] !== undefined && pointer !== undefined)
    hits.counter(keys.action(pointer.replace(/\/config(?:\/.*)?$/, ''))).count++;
}
