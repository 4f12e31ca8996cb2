/**
 * What nodes learn from one place that they can be cut off from: the store or the shared state. A node knows of something
 * when it can reach the place, and the delay has passed since it was reported there and since the node could reach the place.
 */
export class News<T> {
  readonly #delayMs: number;
  readonly #told: { readonly item: T; readonly atMs: number }[] = [];
  /** By node: since when it can reach the place; null while it cannot. */
  readonly #sinceMs: (number | null)[];
  /** By node: how many items it knows. */
  readonly #known: number[];

  constructor(nodes: number, delayMs: number) {
    this.#delayMs = delayMs;
    this.#sinceMs = Array.from({ length: nodes }, () => Number.NEGATIVE_INFINITY);
    this.#known = Array.from({ length: nodes }, () => 0);
  }

  isReachedBy(node: number): boolean {
    return this.#sinceMs[node - 1] !== null;
  }

  tell(item: T, nowMs: number): void {
    this.#told.push({ item, atMs: nowMs });
  }

  /** After the network has changed. */
  reach(node: number, isReached: boolean, nowMs: number): void {
    this.#sinceMs[node - 1] = isReached ? (this.#sinceMs[node - 1] ?? nowMs) : null;
  }

  /** What a node knows now and did not know before, in the order of telling. */
  heardBy(node: number, nowMs: number): readonly T[] {
    const sinceMs = this.#sinceMs[node - 1]!;
    if (sinceMs === null) return [];
    const from = this.#known[node - 1]!;
    let to = from;
    while (to < this.#told.length && Math.max(this.#told[to]!.atMs, sinceMs) + this.#delayMs <= nowMs) to++;
    this.#known[node - 1] = to;
    return this.#told.slice(from, to).map(({ item }) => item);
  }
}
