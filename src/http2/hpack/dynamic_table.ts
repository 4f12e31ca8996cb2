/** The size of a table unless a setting changes it (RFC 9113 §6.5.2). */
export const TABLE_BYTES = 4_096;
/** What an entry counts besides its name and value (RFC 7541 §4.1). */
export const ENTRY_OVERHEAD_BYTES = 32;

/** The table of recently indexed fields, bounded in bytes (RFC 7541 §2.3.2). */
export class DynamicTable {
  /** Pairs of name and value, the oldest first; those before `#first` are evicted. */
  #fields: string[] = [];
  #first = 0;
  #bytes = 0;
  #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get length(): number {
    return (this.#fields.length - this.#first) / 2;
  }

  /** The name of the entry that was added `age` entries ago; 0 is the newest. */
  name(age: number): string {
    return this.#fields[this.#fields.length - 2 - 2 * age]!;
  }

  value(age: number): string {
    return this.#fields[this.#fields.length - 1 - 2 * age]!;
  }

  /** Adds an entry. One that is larger than the table empties it (RFC 7541 §4.4). */
  add(name: string, value: string): void {
    const bytes = name.length + value.length + ENTRY_OVERHEAD_BYTES;
    this.#evict(this.#maxBytes - bytes);
    if (bytes > this.#maxBytes) return;
    this.#fields.push(name, value);
    this.#bytes += bytes;
  }

  resize(maxBytes: number): void {
    this.#maxBytes = maxBytes;
    this.#evict(maxBytes);
  }

  #evict(untilBytes: number): void {
    while (this.#bytes > untilBytes && this.#first < this.#fields.length) {
      const name = this.#fields[this.#first]!;
      const value = this.#fields[this.#first + 1]!;
      this.#bytes -= name.length + value.length + ENTRY_OVERHEAD_BYTES;
      this.#fields[this.#first] = this.#fields[this.#first + 1] = '';
      this.#first += 2;
    }
    if (this.#first < COMPACTED_AT) return;
    this.#fields = this.#fields.slice(this.#first);
    this.#first = 0;
  }
}

const COMPACTED_AT = 512;
