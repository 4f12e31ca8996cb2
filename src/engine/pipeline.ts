import type { Edit, Handler, HandlerPart } from './contract.ts';
import type { DeclaredReason } from './module.ts';
import type { Branding } from './branding.ts';

type HandlerMember<Name extends 'onConnection' | 'onRequest' | 'onResponse' | 'reduce'> = NonNullable<
  Handler<unknown>[Name]
>;

/** The last verdict of a filter in a trace. Requests with the same verdict share its step. */
interface LastStep {
  verdict: object | null;
  phase: string;
  /** Null until the verdict comes a second time. */
  step: object | null;
}

/** One handler in its pipeline, with its state across requests. All have the same object shape, for speed. */
export interface CompiledFilter {
  readonly module: string;
  /** JSON pointer of the module's config. */
  readonly pointer: string;
  readonly reasons: Readonly<Record<string, DeclaredReason>>;
  readonly state: unknown;
  /** The module itself, and the actions inside it. */
  readonly parts: readonly HandlerPart[];
  readonly reserves: readonly string[];
  readonly onConnection: HandlerMember<'onConnection'> | null;
  readonly onRequest: HandlerMember<'onRequest'> | null;
  readonly onResponse: HandlerMember<'onResponse'> | null;
  readonly reduce: HandlerMember<'reduce'> | null;
  readonly lastStep: LastStep;
}

/** Handlers in table order. */
export interface FilterRow {
  /** `<edge>/<index>` in an edge file, the route's id in a store, `tls:<edge>` for an edge without routes. */
  readonly route: string;
  readonly edge: string;
  readonly pointer: string;
  readonly branding: Branding;
  readonly filters: readonly CompiledFilter[];
  /** Index of each module's filter by type; undefined if the module is not configured. */
  readonly positionOf: Readonly<Record<string, number | undefined>>;
  readonly stateful: readonly number[];
  /** The verdicts before any filter ran: as many as there are filters. */
  readonly undecided: readonly undefined[];
}

/** The handlers of one route. */
export interface Pipeline extends FilterRow {
  readonly match: string;
  readonly matchType: 'exact_path' | 'path_prefix';
}

export const NO_EDITS: readonly Edit[] = Object.freeze([]);

const NOTHING: readonly string[] = Object.freeze([]);

/** Makes the filter of a module's handler; `state` is its kept state, if any. */
export function compiledFilter(
  { type, pointer, config }: HandlerPart,
  reasons: Readonly<Record<string, DeclaredReason>>,
  handler: Handler,
  state: unknown,
): CompiledFilter {
  // The state was made by this handler's `initial`.
  const open = handler as unknown as Handler<unknown>;
  const { parts = [] } = handler;
  return {
    module: type,
    pointer,
    reasons,
    state,
    parts: [{ type, pointer, config }, ...parts],
    reserves: handler.reserves ?? NOTHING,
    onConnection: open.onConnection ?? null,
    onRequest: open.onRequest ?? null,
    onResponse: open.onResponse ?? null,
    // A filter with state is reset between cases, whether or not outcomes change it.
    reduce: open.reduce ?? (handler.initial === undefined ? null : keepState),
    lastStep: { verdict: null, phase: '', step: null },
  };
}

/** For state that outcomes do not change. */
function keepState(): void {}

/** Joins filters into the pipeline of one route, or of one TLS or TCP edge. */
export function pipelineOf<Route extends object>(
  route: Route,
  filters: readonly CompiledFilter[],
): Route & Pick<FilterRow, 'filters' | 'positionOf' | 'stateful' | 'undecided'> {
  return {
    ...route,
    filters,
    positionOf: Object.fromEntries(filters.map((each, index) => [each.module, index])),
    stateful: filters.flatMap((each, index) => (each.reduce === null ? [] : [index])),
    undecided: filters.map(() => undefined),
  };
}
