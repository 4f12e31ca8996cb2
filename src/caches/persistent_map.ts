/** Entries whose keys have the same leading bits of their hash: a small map, or one node for each value of the next bits. */
type Node<Value> = Map<string, Value> | readonly Node<Value>[];

/** Bits of the hash that a level divides by. */
const BITS = 5;
const WIDTH = 1 << BITS;
/** A map with more entries is divided, unless all bits are used. */
const MANY = 32;
const ALL_BITS = 32;

/**
 * An immutable map from texts, in no order. A changed version shares with its predecessor all but a few entries beside
 * those that changed, so that both cost little and are compared without visiting what they share. A map of few entries
 * is searched like a `Map`.
 */
export class PersistentMap<Value> implements Iterable<readonly [key: string, value: Value]> {
  readonly #root: Node<Value>;
  readonly size: number;

  private constructor(root: Node<Value>, size: number) {
    this.#root = root;
    this.size = size;
  }

  static of<Value>(entries: Iterable<readonly [key: string, value: Value]> = []): PersistentMap<Value> {
    return new PersistentMap<Value>(new Map(), 0).with(entries);
  }

  get(key: string): Value | undefined {
    const root = this.#root;
    return root instanceof Map ? root.get(key) : leafOf(root, hashOf(key)).get(key);
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  [Symbol.iterator](): Iterator<readonly [key: string, value: Value]> {
    return entriesOf(this.#root);
  }

  *keys(): Generator<string> {
    for (const [key] of this) yield key;
  }

  *values(): Generator<Value> {
    for (const [, value] of this) yield value;
  }

  /** The map with other values; undefined removes a key. The same map if nothing differs. */
  with(changes: Iterable<readonly [key: string, value: Value | undefined]>): PersistentMap<Value> {
    // Nodes made here may still be changed.
    const own = new Set<Node<Value>>();
    let root = this.#root;
    let size = this.size;
    for (const [key, value] of changes) {
      const before = (root instanceof Map ? root : leafOf(root, hashOf(key))).get(key);
      if (before === value) continue;
      root = changed(root, key, value, 0, own);
      size += Number(before === undefined) - Number(value === undefined);
    }
    return root === this.#root ? this : new PersistentMap(root, size);
  }

  /** Keys with another value than in a former map, or only in one of them. What both share is not visited. */
  changedKeys(former: PersistentMap<Value>): Set<string> {
    const found = new Set<string>();
    collectChanges(former.#root, this.#root, found);
    return found;
  }
}

/** FNV-1a, with its bits mixed, because the low ones choose the node. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return hash ^ (hash >>> 13);
}

function leafOf<Value>(root: readonly Node<Value>[], hash: number): Map<string, Value> {
  let node: Node<Value> = root;
  let rest = hash;
  while (!(node instanceof Map)) {
    node = node[rest & (WIDTH - 1)]!;
    rest >>>= BITS;
  }
  return node;
}

/** The node with another value of a key; nodes in `own` are changed in place. */
function changed<Value>(
  node: Node<Value>,
  key: string,
  value: Value | undefined,
  bits: number,
  own: Set<Node<Value>>,
): Node<Value> {
  const isOwn = own.has(node);
  if (!(node instanceof Map)) {
    const next = isOwn ? (node as Node<Value>[]) : [...node];
    own.add(next);
    const at = (hashOf(key) >>> bits) & (WIDTH - 1);
    next[at] = changed(next[at]!, key, value, bits + BITS, own);
    return next;
  }
  const next = isOwn ? node : new Map(node);
  own.add(next);
  if (value === undefined) next.delete(key);
  else next.set(key, value);
  return next.size > MANY && bits < ALL_BITS ? divided(next, bits, own) : next;
}

function divided<Value>(
  entries: ReadonlyMap<string, Value>,
  bits: number,
  own: Set<Node<Value>>,
): Node<Value> {
  const nodes = Array.from({ length: WIDTH }, () => new Map<string, Value>());
  for (const [key, value] of entries) nodes[(hashOf(key) >>> bits) & (WIDTH - 1)]!.set(key, value);
  own.add(nodes);
  for (const node of nodes) own.add(node);
  return nodes;
}

function* entriesOf<Value>(node: Node<Value>): Generator<readonly [key: string, value: Value]> {
  if (node instanceof Map) yield* node;
  else for (const each of node) yield* entriesOf(each);
}

function collectChanges<Value>(former: Node<Value>, now: Node<Value>, found: Set<string>): void {
  if (former === now) return;
  if (!(former instanceof Map) && !(now instanceof Map)) {
    for (let at = 0; at < WIDTH; at++) collectChanges(former[at]!, now[at]!, found);
    return;
  }
  const before = new Map(entriesOf(former));
  for (const [key, value] of entriesOf(now)) {
    if (before.get(key) !== value) found.add(key);
    before.delete(key);
  }
  for (const key of before.keys()) found.add(key);
}
