import { MORE, readSection, REFUSED } from './fields.ts';
import { gatherFields, type HeadFields } from './message.ts';

/**
 * The fields of one head, read once for all heads that have the same. A client says the same of itself with each
 * request, as often as not byte for byte; bytes that are equal mean the same, so comparing them is reading them.
 */
interface Block {
  readonly bytes: Buffer;
  /** Shared by many requests: read-only by its type, and not frozen, for a frozen array is read twenty times slower. */
  readonly fields: HeadFields;
}

/** Longer ones are not kept; of others so many, whoever sends them. */
const LONGEST_BYTES = 2_048;
const KEPT_BLOCKS = 256;
const known = new Map<string, Block>();

/** The block whose fields have just been read from `bytes[from..to)`; null for one that is not kept. */
function blockAt(bytes: Buffer, from: number, to: number): Block | null {
  if (to - from > LONGEST_BYTES) return null;
  const text = bytes.toString('latin1', from, to);
  const before = known.get(text);
  if (before !== undefined) return before;
  const block = { bytes: Buffer.from(bytes.subarray(from, to)), fields: gatherFields(text, from) };
  if (known.size >= KEPT_BLOCKS) known.clear();
  known.set(text, block);
  return block;
}

/** Whether `bytes[from..to)` begins with what the block is. */
function startsWith(block: Block, bytes: Buffer, from: number, to: number): boolean {
  const end = from + block.bytes.length;
  return end <= to && block.bytes.compare(bytes, from, end) === 0;
}

/** After so many heads with other fields than before, fields are not compared any more. */
const MOST_CHANGES = 8;

/** Reads the fields of one head after the other on a connection. */
export class FieldReader {
  /** Behind the section that was read last. */
  end = 0;
  readonly #limit: number;
  #last: Block | null = null;
  /** Heads in a row whose fields were not those of the one before. */
  #changes = 0;

  /** `limit` is the most fields of one head. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The fields from `from` on: those of the last head, where they are the same bytes. */
  read(bytes: Buffer, from: number, to: number): HeadFields | typeof MORE | typeof REFUSED {
    const last = this.#last;
    if (last !== null && startsWith(last, bytes, from, to)) {
      this.end = from + last.bytes.length;
      this.#changes = 0;
      return last.fields;
    }
    const end = readSection(bytes, from, to, this.#limit);
    if (end === MORE || end === REFUSED) return end;
    this.end = end;
    // Who says something else each time has nothing to gain from being remembered.
    const block = this.#changes < MOST_CHANGES ? blockAt(bytes, from, end) : null;
    this.#changes++;
    this.#last = block;
    return block === null ? gatherFields(bytes.toString('latin1', from, end), from) : block.fields;
  }
}
