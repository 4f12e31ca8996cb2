import { markRecurring } from '../caches/recurring.ts';
import { MORE, readSection, REFUSED } from './fields.ts';
import { gather, gatherFields, type HeadFields } from './message.ts';

/**
 * The fields of one head, parsed once for all heads with the same bytes. A client usually sends the same
 * fields with each request, so comparing bytes replaces parsing.
 */
interface Block {
  readonly bytes: Buffer;
  /**
   * Shared by many requests: read-only by type, but not frozen, because reading a frozen array is twenty
   * times slower.
   */
  readonly fields: HeadFields;
}

/** Longer heads are not cached; the number of others is limited, over all connections. */
const MAX_BYTES = 2_048;
const CACHED_BLOCKS = 256;
const known = new Map<string, Block>();
/** The block that was read last, for the first head of a connection: many clients open one for each request. */
let latest: Block | null = null;

/** Creates the cache entry for the fields just read from `bytes[from..to)`; null if they are not cached. */
function blockAt(bytes: Buffer, from: number, to: number): Block | null {
  if (to - from > MAX_BYTES) return null;
  const text = bytes.toString('latin1', from, to);
  const before = known.get(text);
  if (before !== undefined) {
    markRecurring(before.fields.list);
    return before;
  }
  const block = { bytes: Buffer.from(bytes.subarray(from, to)), fields: gather(bytes, from, text) };
  if (known.size >= CACHED_BLOCKS) known.clear();
  known.set(text, block);
  return block;
}

/** Whether `bytes[from..to)` begins with the bytes of the entry. */
function startsWith(block: Block, bytes: Buffer, from: number, to: number): boolean {
  const end = from + block.bytes.length;
  return end <= to && block.bytes.compare(bytes, from, end) === 0;
}

/** After this many heads with changed fields, a connection compares only one of as many as `ONE_OF`. */
const MAX_CHANGES = 2;
const ONE_OF = 64;

/** Reads the fields of one head after the other on a connection. */
export class FieldReader {
  /** Position after the last section. */
  end = 0;
  readonly #limit: number;
  #last: Block | null = null;
  /** Number of consecutive heads whose fields differed from the previous ones. */
  #changes = 0;

  /** `limit` is the maximum number of fields in a head. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Reads fields at `from`; returns those of the previous head if the bytes are the same. */
  read(bytes: Buffer, from: number, to: number): HeadFields | typeof MORE | typeof REFUSED {
    const last = this.#last ?? (this.#changes === 0 ? latest : null);
    if (last !== null && startsWith(last, bytes, from, to)) {
      this.end = from + last.bytes.length;
      this.#changes = 0;
      this.#last = last;
      markRecurring(last.fields.list);
      return last.fields;
    }
    const end = readSection(bytes, from, to, this.#limit);
    if (end === MORE || end === REFUSED) return end;
    this.end = end;
    // A client with different fields each time gains nothing from the cache.
    const isCompared = this.#changes < MAX_CHANGES || this.#changes % ONE_OF === 0;
    const block = isCompared ? blockAt(bytes, from, end) : null;
    this.#changes++;
    this.#last = block;
    if (block !== null) latest = block;
    return block === null ? gatherFields(bytes, from, end) : block.fields;
  }
}
