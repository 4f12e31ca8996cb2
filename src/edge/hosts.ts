import { PersistentMap } from '../caches/persistent_map.ts';
import type { World } from '../engine/contract.ts';

/** Maps host names to entries: exact names before wildcards, the longest wildcard first. */
export interface HostTable<Entry> {
  readonly find: (host: string) => Entry | null;
}

/**
 * One member of a pool, at random. Endpoints of agents are chosen in proportion to their tunnels, so that each agent
 * gets the same share; an endpoint without tunnels counts once.
 */
export function memberOf<Member extends { readonly name: string }>(
  pool: readonly Member[],
  world: World,
): Member {
  return pool.length === 1 ? pool[0]! : drawn(pool, world);
}

function drawn<Member extends { readonly name: string }>(pool: readonly Member[], world: World): Member {
  const weights = pool.map(({ name }) => Math.max(1, world.tunnels?.(name, NO_LABELS).length ?? 1));
  let rest = world.random() * weights.reduce((sum, weight) => sum + weight, 0);
  return pool.find((_, index) => (rest -= weights[index]!) < 0) ?? pool.at(-1)!;
}

/** Tunnels of an endpoint are found by its name alone. */
const NO_LABELS = Object.freeze({});

/** Builds the table; `*.shop.test` covers names of any depth below, not `shop.test` itself. */
export function hostTable<Entry>(
  entries: readonly (readonly [host: string, entry: Entry])[],
): HostTable<Entry> {
  const [wildcard, exact] = [true, false].map(
    (isWildcard) =>
      new Map(
        entries
          .filter(([host]) => host.startsWith('*.') === isWildcard)
          .map(([host, entry]) => [isWildcard ? host.slice(2) : host, entry]),
      ),
  ) as [Map<string, Entry>, Map<string, Entry>];
  return { find: (host) => found(exact, wildcard, host, '') };
}

type Entries<Entry> = Pick<Map<string, Entry>, 'get' | 'size'>;

/** The entry of a host: `at` stands before its name in the keys of the maps. */
function found<Entry>(
  exact: Entries<Entry>,
  wildcard: Entries<Entry>,
  host: string,
  at: string,
): Entry | null {
  const named = exact.get(at + host);
  if (named !== undefined || wildcard.size === 0) return named ?? null;
  for (let dot = host.indexOf('.'); dot >= 0; dot = host.indexOf('.', dot + 1)) {
    const covered = wildcard.get(at + host.slice(dot + 1));
    if (covered !== undefined) return covered;
  }
  return null;
}

interface Named {
  readonly name: string;
}

type Pools<Member> = PersistentMap<readonly Member[]>;

/** A member that a host has from now on, or one by its name that it has no longer. */
export interface PoolChange<Member extends Named> {
  /** The part of the key before the host, such as its port; empty if the key is the host. */
  readonly at: string;
  readonly host: string;
  readonly name: string;
  readonly member: Member | null;
}

/**
 * The members of each host, in the order of their names: only pooled endpoints share a host. Immutable; a changed table
 * shares all other hosts with its predecessor.
 */
export class PoolTable<Member extends Named> {
  readonly #exact: Pools<Member>;
  readonly #wildcard: Pools<Member>;

  private constructor(exact: Pools<Member>, wildcard: Pools<Member>) {
    this.#exact = exact;
    this.#wildcard = wildcard;
  }

  static empty<Member extends Named>(): PoolTable<Member> {
    return new PoolTable<Member>(PersistentMap.of(), PersistentMap.of());
  }

  /** The members of a host, never an empty list. */
  find(host: string, at = ''): readonly Member[] | null {
    return found(this.#exact, this.#wildcard, host, at);
  }

  /** The table with other members; the same table if there are no changes. */
  with(changes: readonly PoolChange<Member>[]): PoolTable<Member> {
    const exact = new Map<string, readonly Member[]>();
    const wildcard = new Map<string, readonly Member[]>();
    for (const { at, host, name, member } of changes) {
      const isWildcard = host.startsWith('*.');
      const [next, former] = isWildcard ? [wildcard, this.#wildcard] : [exact, this.#exact];
      const key = at + (isWildcard ? host.slice(2) : host);
      const pool = next.get(key) ?? former.get(key) ?? [];
      const place = placeOf(name, pool);
      const isThere = pool[place]?.name === name;
      next.set(key, pool.toSpliced(place, isThere ? 1 : 0, ...(member === null ? [] : [member])));
    }
    const [named, covering] = [this.#exact.with(filled(exact)), this.#wildcard.with(filled(wildcard))];
    const isSame = named === this.#exact && covering === this.#wildcard;
    return isSame ? this : new PoolTable(named, covering);
  }
}

/** Where the member of a name is in a pool, or would be. */
function placeOf(name: string, pool: readonly Named[]): number {
  let [from, to] = [0, pool.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (pool[middle]!.name < name) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Pools as changes of a map: one without members is removed. */
const filled = <Member>(pools: ReadonlyMap<string, readonly Member[]>) =>
  Array.from(pools, ([key, pool]) => [key, pool.length === 0 ? undefined : pool] as const);

const LOCAL_SUFFIX = '.localhost';

/**
 * The host that a name for local development stands for, `shop.test` for `shop.test.localhost`, which every browser takes
 * for this machine (RFC 6761, section 6.3); null for another name.
 */
export function hostBehind(host: string): string | null {
  return host.endsWith(LOCAL_SUFFIX) ? host.slice(0, -LOCAL_SUFFIX.length) : null;
}
