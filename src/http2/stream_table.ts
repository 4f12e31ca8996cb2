/** A stream with the id that its client has given it. */
interface Numbered {
  readonly id: number;
}

/**
 * The streams of a connection by id, in the order in which they were opened, which is that of their ids. It is a list for the
 * same reason as `DenseList`: a `Map` would keep streams that have ended.
 */
export class StreamTable<Stream extends Numbered> {
  readonly #streams: Stream[] = [];

  get size(): number {
    return this.#streams.length;
  }

  get(id: number): Stream | undefined {
    const place = this.#placeOf(id);
    return place < 0 ? undefined : this.#streams[place];
  }

  /** Adds a stream whose id is higher than all before. */
  add(stream: Stream): void {
    this.#streams.push(stream);
  }

  delete(id: number): void {
    const streams = this.#streams;
    const place = this.#placeOf(id);
    if (place < 0) return;
    // `splice` would make a list of what it removes.
    for (let at = place + 1; at < streams.length; at++) streams[at - 1] = streams[at]!;
    streams.pop();
  }

  /** All of them, also while some are removed. */
  values(): readonly Stream[] {
    return this.#streams.slice();
  }

  /** -1 if there is no such stream. */
  #placeOf(id: number): number {
    const streams = this.#streams;
    let from = 0;
    let to = streams.length - 1;
    while (from <= to) {
      const middle = (from + to) >> 1;
      const found = streams[middle]!.id;
      if (found === id) return middle;
      if (found < id) from = middle + 1;
      else to = middle - 1;
    }
    return -1;
  }
}
