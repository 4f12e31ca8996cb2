import { type Mutant, configMutants } from '../analysis/config_mutants.ts';
import type { Comparison } from '../analysis/comparison.ts';
import { type Comparer, comparer } from '../analysis/diff.ts';
import {
  type EdgeFixture,
  type EdgeObserver,
  type FixtureParts,
  edgeFixture,
  fixtureParts,
} from '../coverage/edge_fixture.ts';
import { hasErrors } from '../diagnostics/diagnostic.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { type ValidationCache, validationCache } from '../edge/document/validation_cache.ts';
import { withoutFiles } from '../edge/document/without_files.ts';
import type { SecretSource } from '../edge/secrets.ts';
import { checkWholeEdge } from '../edge/semantic_checks.ts';
import type { Exchange } from '../engine/exchange.ts';
import type { StreamExchange } from '../engine/stream_exchange.ts';
import type { CompiledCase } from '../simulator/compile_case.ts';
import { runCase } from '../simulator/run_case.ts';
import { hasLogins } from '../simulator/search/gate_pools.ts';

/** What became of a planted mistake. */
export type Fate =
  | { readonly fate: 'killed'; readonly by: string }
  /** The check refuses it. */
  | { readonly fate: 'refused' }
  /** It is proved to change nothing. */
  | { readonly fate: 'equivalent' }
  | { readonly fate: 'survives'; readonly comparison: Comparison; readonly changed: EdgeFixture };

/** Tries mistakes in a configuration against a suite of cases; what mistakes leave alone is prepared once. */
export class MutantTrial {
  readonly config: EdgeConfig;
  readonly #suite: readonly CompiledCase[];
  readonly #checked: ValidationCache;
  readonly #parts: FixtureParts = fixtureParts();
  readonly #compare: Comparer;
  /** The routes that a case uses without a mistake, by their pointers; null if other routes can change what it does. */
  readonly #routes: ReadonlyMap<CompiledCase, ReadonlySet<string>> | null;
  /** The cases, those that noticed a mistake last first. */
  #order: readonly CompiledCase[];

  readonly #secrets: SecretSource | null;

  constructor(config: EdgeConfig, suite: readonly CompiledCase[], secrets: SecretSource | null = null) {
    this.#secrets = secrets;
    this.#checked = validationCache(config);
    this.config = checkWholeEdge({ value: withoutFiles(config) }, { cache: this.#checked }).config ?? config;
    this.#suite = suite;
    this.#order = suite;
    this.#compare = comparer({ config: this.config }, this.#fixtureOf(this.config));
    // The cookies of a login are hidden from all routes.
    this.#routes = hasLogins(this.config) ? null : routesOf(this.config, suite, secrets);
  }

  /** The edge without a mistake. */
  get fixture(): EdgeFixture {
    return this.#fixtureOf(this.config);
  }

  /** The first case that fails without a mistake. */
  failing(): CompiledCase | undefined {
    const { fixture } = this;
    return this.#suite.find((each) => runCase(each, fixture).mismatches.length > 0);
  }

  mutants(): Generator<Mutant> {
    return configMutants(this.config);
  }

  try({ config: value, pointer }: Mutant): Fate {
    const { config, diagnostics } = checkWholeEdge({ value }, { cache: this.#checked });
    if (config === null || hasErrors(diagnostics)) return { fate: 'refused' };
    const fixture = this.#fixtureOf(config);
    const route = this.#routes === null ? null : routeAt(pointer);
    const killer = this.#order.find(
      (each) =>
        (route === null || this.#routes!.get(each)!.has(route)) &&
        runCase(each, fixture).mismatches.length > 0,
    );
    if (killer !== undefined) {
      this.#order = [killer, ...this.#order.filter((each) => each !== killer)];
      return { fate: 'killed', by: killer.row.name };
    }
    const comparison = this.#compare({ config }, fixture);
    return comparison.verdict === 'equivalent'
      ? { fate: 'equivalent' }
      : { fate: 'survives', comparison, changed: fixture };
  }

  #fixtureOf(config: EdgeConfig): EdgeFixture {
    return edgeFixture(config, () => null, 'decided', null, this.#secrets, this.#parts);
  }
}

function routesOf(
  config: EdgeConfig,
  suite: readonly CompiledCase[],
  secrets: SecretSource | null,
): ReadonlyMap<CompiledCase, ReadonlySet<string>> {
  let used = new Set<string>();
  const note = (exchange: Exchange | StreamExchange): void => {
    if (exchange.pipeline !== null) used.add(exchange.pipeline.pointer);
    if (exchange.inside !== null) note(exchange.inside);
  };
  const watch: EdgeObserver = { watch: ({ evaluate }) => evaluate, completed: note };
  const fixture = edgeFixture(config, () => null, 'decided', watch, secrets);
  return new Map(
    suite.map((each) => {
      used = new Set();
      runCase(each, fixture);
      return [each, used];
    }),
  );
}

/** The route that alone contains a change; null if it may change which requests use which route. */
function routeAt(pointer: string): string | null {
  const [, route, member] = /^(\/edges\/https\/[^/]+\/routes\/\d+)\/([^/]+)/.exec(pointer) ?? [];
  return route === undefined || member!.startsWith('match') ? null : route;
}
