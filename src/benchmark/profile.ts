import type { EdgeConfig } from '../edge/document/schema.ts';
import type { Exchange } from '../engine/exchange.ts';
import { type BenchRequest, decider } from './decision.ts';
import { estimateOf } from './estimate.ts';
import { type MeterOptions, measure } from './meter.ts';
import { type Part, partsOf } from './parts.ts';
import { median } from './statistics.ts';

/** The cost of one module or rule. */
export interface PartCost {
  readonly kind: Part['kind'];
  readonly name: string;
  readonly route: string;
  readonly pointer: string;
  /** Requests of the corpus that reached it, and the size of the corpus. */
  readonly reached: number;
  readonly of: number;
  /** Nanoseconds per execution. */
  readonly ns: number;
  /** Share of the time of an average decision, from 0 to 1. */
  readonly share: number;
  /** Estimated from the configuration, in ns; differs from the measurement if the cost depends on data. */
  readonly estimatedNs: number;
}

/** Maximum number of parts that are measured individually; those with the largest estimates are chosen. */
const MAX_PARTS = 60;

/**
 * Measures each module and each rule alone, on the requests that reach it, against the same configuration
 * without it. `decisionNs` is the average time of a whole decision.
 */
export async function profile(
  config: EdgeConfig,
  corpus: readonly BenchRequest[],
  decisionNs: number,
  seed: number | string,
  options: MeterOptions,
): Promise<{ readonly parts: readonly PartCost[]; readonly leftOut: number }> {
  const reach = reachOf(config, corpus, seed);
  const reached = partsOf(config)
    .map((part) => ({ part, requests: reach.get(part.pointer) ?? [], estimatedNs: estimateOf(part) }))
    .toSorted(
      (one, other) => other.estimatedNs * other.requests.length - one.estimatedNs * one.requests.length,
    );
  const measured = reached.filter(({ requests }) => requests.length > 0).slice(0, MAX_PARTS);
  const subjects = measured.flatMap(({ part, requests }) => [
    () => decider(part.without, seed).subject(requests, 'decision'),
    () => decider(part.alone, seed).subject(requests, 'decision'),
  ]);
  const cycles = measured.flatMap(({ requests }) => [requests.length, requests.length]);
  const found = subjects.length === 0 ? [] : await measure(subjects, { ...options, cycles, extras: false });
  const costs = reached.map(({ part, requests, estimatedNs }): PartCost => {
    const at = measured.findIndex((each) => each.part === part);
    const ns = at < 0 ? 0 : differenceOf(found[at * 2]!.samples, found[at * 2 + 1]!.samples);
    const { kind, name, route, pointer } = part;
    const meanNs = (ns * requests.length) / corpus.length;
    return {
      kind,
      name,
      route,
      pointer,
      reached: requests.length,
      of: corpus.length,
      ns,
      share: meanNs,
      estimatedNs,
    };
  });
  return {
    parts: sharesOf(costs, decisionNs).toSorted((one, other) => other.share - one.share),
    leftOut: reached.filter(({ requests }) => requests.length > 0).length - measured.length,
  };
}

/**
 * Mean nanoseconds of parts as shares of a decision. Each is measured alone, with noise and without the work that parts
 * have in common: modules can come to more than the decision, and no module or rule has more than all of it.
 */
export function sharesOf<Cost extends Pick<PartCost, 'kind' | 'share'>>(
  costs: readonly Cost[],
  decisionNs: number,
): Cost[] {
  const modulesNs = costs.reduce((sum, { kind, share }) => sum + (kind === 'module' ? share : 0), 0);
  const wholeNs = Math.max(decisionNs, modulesNs);
  return costs.map((cost) => ({ ...cost, share: wholeNs > 0 ? Math.min(1, cost.share / wholeNs) : 0 }));
}

/** Slices of one round follow each other directly: their difference has less noise than that of two medians. */
function differenceOf(without: readonly number[], alone: readonly number[]): number {
  return Math.max(0, median(alone.map((ns, at) => ns - without[at]!)));
}

/** For each module and rule, by pointer, the requests that reached it. */
function reachOf(
  config: EdgeConfig,
  corpus: readonly BenchRequest[],
  seed: number | string,
): ReadonlyMap<string, readonly BenchRequest[]> {
  const reach = new Map<string, BenchRequest[]>();
  const { decide } = decider(config, seed, 'full');
  for (const request of corpus) {
    for (const pointer of pointersOf(decide(request))) {
      const requests = reach.get(pointer);
      if (requests === undefined) reach.set(pointer, [request]);
      else requests.push(request);
    }
  }
  return reach;
}

function pointersOf({ pipeline, verdicts, responseVerdicts }: Exchange): ReadonlySet<string> {
  const pointers = new Set<string>();
  for (const [at, { pointer }] of (pipeline?.filters ?? []).entries()) {
    for (const verdict of [verdicts[at], responseVerdicts[at]]) {
      if (verdict === undefined) continue;
      pointers.add(pointer);
      for (const inner of verdict.inner ?? []) if (inner.kind === 'rule') pointers.add(inner.pointer);
    }
  }
  return pointers;
}
