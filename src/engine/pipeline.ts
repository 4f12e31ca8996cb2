import type {
  Connection,
  Edit,
  Handler,
  Happening,
  RequestHead,
  ResponseHead,
  Verdict,
  World,
  Ask,
} from './contract.ts';
import type { Reason } from './module.ts';
import type { ServiceNaming } from './naming.ts';

type ConnectionHook = (connection: Connection, state: unknown, world: World) => Verdict | Ask;
type RequestHook = (
  request: RequestHead,
  connection: Connection,
  state: unknown,
  world: World,
) => Verdict | Ask;
type ResponseHook = (
  response: ResponseHead,
  request: RequestHead,
  connection: Connection,
  world: World,
  carry: unknown,
) => Verdict | Ask;
type ReduceHook = (state: unknown, happening: Happening, world: World) => void;

/** One handler in its pipeline, with the state that outlives requests. All slots have the same shape, for speed. */
export interface Slot {
  readonly module: string;
  /** JSON pointer of the module's config. */
  readonly pointer: string;
  readonly reasons: Readonly<Record<string, Reason>>;
  readonly state: unknown;
  readonly reserves: readonly string[];
  readonly onConnection: ConnectionHook | null;
  readonly onRequest: RequestHook | null;
  readonly onResponse: ResponseHook | null;
  readonly reduce: ReduceHook | null;
}

/** Handlers that stand behind each other, in table order. */
export interface HandlerRow {
  readonly edge: string;
  readonly pointer: string;
  readonly naming: ServiceNaming;
  readonly slots: readonly Slot[];
  /** Position of each module's slot by type; undefined where the module did not run. */
  readonly slotOf: Readonly<Record<string, number | undefined>>;
  readonly stateful: readonly number[];
}

/** The handlers of one route. */
export interface Pipeline extends HandlerRow {
  /** `<edge>/<index>` in an edge file, the route's id in a store. */
  readonly route: string;
  readonly match: string;
  readonly matchType: 'exact_path' | 'path_prefix';
}

export const NO_EDITS: readonly Edit[] = Object.freeze([]);

const NOTHING: readonly string[] = Object.freeze([]);

/** Puts a handler into a slot; `state` is the one kept for it, if it has any. */
export function slot(
  module: string,
  pointer: string,
  reasons: Readonly<Record<string, Reason>>,
  handler: Handler,
  state: unknown,
): Slot {
  // The state in the slot is the one that this handler's `initial` made.
  const open = handler as unknown as Handler<unknown>;
  return {
    module,
    pointer,
    reasons,
    state,
    reserves: handler.reserves ?? NOTHING,
    onConnection: open.onConnection ?? null,
    onRequest: open.onRequest ?? null,
    onResponse: open.onResponse ?? null,
    reduce: open.reduce ?? null,
  };
}

/** Joins slots into the pipeline of one route. */
export function pipeline(
  route: Pick<Pipeline, 'route' | 'edge' | 'match' | 'matchType' | 'pointer' | 'naming'>,
  slots: readonly Slot[],
): Pipeline {
  return {
    ...route,
    slots,
    slotOf: Object.fromEntries(slots.map((each, index) => [each.module, index])),
    stateful: slots.flatMap((each, index) => (each.reduce === null ? [] : [index])),
  };
}
