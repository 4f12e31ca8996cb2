import type { Because, InnerStep, Verdict } from '../../engine/contract.ts';
import type { Exchange } from '../../engine/exchange.ts';
import type { Slot } from '../../engine/pipeline.ts';
import type { StreamExchange } from '../../engine/stream.ts';

/** Names of what is counted; pointers are those of the edge file. */
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
  backend: (route: string, leaf: string) => `backend ${route} ${leaf}`,
  expression: (pointer: string, start: number) => `${pointer}@${start}`,
} as const;

/** How often a thing was seen. */
interface Counter {
  count: number;
}

/** Counters by key. */
export interface HitTable {
  readonly counter: (key: string) => Counter;
  /** Counts what can have any text: only so many of them are kept. */
  readonly hitText: (key: string) => void;
  readonly count: (key: string) => number;
  readonly add: (key: string, count: number) => void;
  /** How many different things were seen, those with any text left out. */
  readonly kinds: () => number;
  readonly all: () => Record<string, number>;
}

/** Distinct hosts, paths and addresses of one run that are kept. */
const TEXT_LIMIT = 20_000;
/** Keys that end in any text. */
const TEXTUAL = /^(?:host|path|address) /;

export function hitTable(): HitTable {
  const counters = new Map<string, Counter>();
  let texts = 0;
  const counter = (key: string): Counter => {
    let known = counters.get(key);
    if (known === undefined) counters.set(key, (known = { count: 0 }));
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
      }
    },
    count: (key) => counters.get(key)?.count ?? 0,
    add: (key, count) => {
      if (TEXTUAL.test(key) && !counters.has(key)) texts++;
      counter(key).count += count;
    },
    kinds: () => counters.size - texts,
    all: () => Object.fromEntries(Array.from(counters, ([key, { count }]) => [key, count])),
  };
}

/** Modules that decide by the address of the client. */
const ADDRESSED: ReadonlySet<string> = new Set(['ip_restriction']);

/** Counts what became of a request; one that was handed on inside the edge counts where it came to, too. */
export function exchangeCounter(hits: HitTable): (exchange: Exchange) => void {
  const slotCounter = slotCounters(hits);
  const countExchange = (exchange: Exchange): void => {
    const { pipeline, head, connection, inside } = exchange;
    if (pipeline !== null) {
      const { route, edge, slots } = pipeline;
      hits.counter(keys.route(route)).count++;
      hits.hitText(keys.host(edge, head.host));
      hits.hitText(keys.path(edge, head.path));
      for (let index = 0; index < slots.length; index++) {
        const verdict = exchange.verdicts[index];
        const onResponse = exchange.responseVerdicts[index];
        const slot = slots[index]!;
        if (verdict !== undefined) {
          slotCounter(slot, verdict);
          if (verdict.verdict === 'stop') hits.counter(keys.stop(route, slot.module)).count++;
          addressOf(hits, slot, verdict, connection.client.text);
        }
        if (onResponse !== undefined) slotCounter(slot, onResponse);
      }
      for (const { leaf } of exchange.attempts) hits.counter(keys.backend(route, leaf.id)).count++;
    }
    // A path beside a route may be nobody's; which edge it was asked of, its host tells.
    if (pipeline === null && exchange.routed.code === 'route.no_match')
      hits.hitText(keys.path(`?${head.host}`, head.path));
    if (inside !== null) countExchange(inside);
  };
  return countExchange;
}

/** Counts what became of a connection of a TLS or TCP edge. */
export function streamCounter(hits: HitTable): (exchange: StreamExchange) => void {
  const slotCounter = slotCounters(hits);
  return ({ pipeline, connection, verdicts, attempts }) => {
    if (pipeline === null) return;
    const route = `${pipeline.kind}:${pipeline.edge}`;
    hits.counter(keys.route(route)).count++;
    hits.hitText(keys.host(route, `${connection.serverName.toLowerCase()}:${connection.serverPort}`));
    for (const [index, slot] of pipeline.slots.entries()) {
      const verdict = verdicts[index];
      if (verdict === undefined) continue;
      slotCounter(slot, verdict);
      if (verdict.verdict === 'stop') hits.counter(keys.stop(route, slot.module)).count++;
      addressOf(hits, slot, verdict, connection.client.text);
    }
    for (const { leaf } of attempts) hits.counter(keys.backend(route, leaf.id)).count++;
  };
}

/** Counts the address that a module, or an action of a policy, has judged. */
function addressOf(hits: HitTable, { module, pointer }: Slot, { inner }: Verdict, address: string): void {
  if (ADDRESSED.has(module)) hits.hitText(keys.address(pointer, address));
  for (const step of inner ?? [])
    if (step.name === 'restrict-ips') hits.hitText(keys.address(step.pointer, address));
}

/** What is counted of one slot; looked up by what is short, for cases are many. */
interface SlotCounters {
  readonly ran: Counter;
  readonly codes: Map<string, Counter>;
  readonly rules: Map<string, Counter>;
}

function slotCounters(hits: HitTable): (slot: Slot, verdict: Verdict) => void {
  const known = new WeakMap<Slot, SlotCounters>();
  return (slot, { because, inner }) => {
    let counters = known.get(slot);
    if (counters === undefined) {
      counters = { ran: hits.counter(keys.module(slot.pointer)), codes: new Map(), rules: new Map() };
      known.set(slot, counters);
    }
    const { code, pointer } = because;
    counters.ran.count++;
    counted(counters.codes, code, () => hits.counter(keys.reason(slot.pointer, code)));
    if (pointer !== undefined && slot.module !== 'traffic_policy')
      counted(counters.rules, pointer, () => hits.counter(keys.rule(pointer)));
    if (inner !== undefined) countInner(hits, inner, because);
  };
}

function counted(counters: Map<string, Counter>, key: string, make: () => Counter): void {
  let counter = counters.get(key);
  if (counter === undefined) counters.set(key, (counter = make()));
  counter.count++;
}

/** The rules of a policy that applied, and the actions that ran. */
function countInner(hits: HitTable, inner: readonly InnerStep[], { code, detail, pointer }: Because): void {
  for (const step of inner) {
    if (step.kind === 'rule') {
      if (step.code === 'rule.applied') hits.counter(keys.rule(step.pointer)).count++;
    } else {
      hits.counter(keys.action(step.pointer)).count++;
      hits.counter(keys.reason(step.pointer, step.code)).count++;
    }
  }
  // An action that could not go on has left no step.
  if (code === 'traffic_policy.failed' && detail['action'] !== undefined && pointer !== undefined)
    hits.counter(keys.action(pointer.replace(/\/config(?:\/.*)?$/, ''))).count++;
}
