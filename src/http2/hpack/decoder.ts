import { markRecurring } from '../../caches/recurring.ts';
import type { FieldList } from '../../http/fields.ts';
import { DynamicTable, ENTRY_OVERHEAD_BYTES, TABLE_BYTES } from './dynamic_table.ts';
import { huffmanDecode } from './huffman.ts';
import { STATIC_TABLE } from './static_table.ts';

/** A decoded header block. */
export interface Decoded {
  /** Pseudo-headers and fields, as received. */
  readonly fields: FieldList;
  /** The size of the list (RFC 9113 §6.5.2). */
  readonly listBytes: number;
  /** The list is longer than the limit, and has only what comes before. */
  readonly isCut: boolean;
}

/** Blocks up to this length are compared with the one before. */
const COMPARED_BYTES = 2_048;

/** Decodes the header blocks of a connection, in order (RFC 7541). */
export class HpackDecoder {
  readonly #table = new DynamicTable(TABLE_BYTES);
  readonly #maxListBytes: number;
  #bytes: Buffer = EMPTY;
  #at = 0;
  #to = 0;
  #isBroken = false;
  /** The last block that did not change the table: the same bytes mean the same fields as long as it stays so. */
  #lastBytes: Buffer = EMPTY;
  #last: Decoded | null = null;

  constructor(maxListBytes: number) {
    this.#maxListBytes = maxListBytes;
  }

  /** Null: the block is invalid, and with it all that follow on the connection (RFC 7541 §2.2, RFC 9113 §4.3). */
  decode(block: Buffer): Decoded | null {
    if (this.#last !== null && block.equals(this.#lastBytes)) {
      markRecurring(this.#last);
      markRecurring(this.#last.fields);
      return this.#last;
    }
    this.#bytes = block;
    this.#at = 0;
    this.#to = block.length;
    this.#isBroken = false;
    const fields: string[] = [];
    let listBytes = 0;
    let isCut = false;
    let changesTable = false;
    while (this.#at < this.#to && !this.#isBroken) {
      const first = block[this.#at]!;
      if ((first & 0xe0) === 0x20) {
        // RFC 7541 §4.2: a size update precedes all fields.
        const size = this.#integer(5);
        if (fields.length > 0 || isCut || size > TABLE_BYTES) return null;
        this.#table.resize(size);
        changesTable = true;
        continue;
      }
      const isIndexed = (first & 0x80) !== 0;
      const isAdded = (first & 0xc0) === 0x40;
      const index = this.#integer(isIndexed ? 7 : isAdded ? 6 : 4);
      if (isIndexed && index === 0) return null;
      const name = index === 0 ? this.#string() : this.#nameAt(index);
      const value = isIndexed ? this.#valueAt(index) : this.#string();
      if (this.#isBroken) return null;
      if (isAdded) {
        this.#table.add(name, value);
        changesTable = true;
      }
      listBytes += name.length + value.length + ENTRY_OVERHEAD_BYTES;
      isCut ||= listBytes > this.#maxListBytes;
      if (!isCut) fields.push(name, value);
    }
    this.#bytes = EMPTY;
    if (this.#isBroken) return null;
    const decoded: Decoded = { fields, listBytes, isCut };
    const isKept = !changesTable && block.length <= COMPARED_BYTES;
    this.#last = isKept ? decoded : null;
    this.#lastBytes = isKept ? Buffer.from(block) : EMPTY;
    return decoded;
  }

  #nameAt(index: number): string {
    if (index <= STATIC_TABLE.length) return STATIC_TABLE[index - 1]![0];
    const age = index - STATIC_TABLE.length - 1;
    if (age < this.#table.length) return this.#table.name(age);
    this.#isBroken = true;
    return '';
  }

  #valueAt(index: number): string {
    if (index <= STATIC_TABLE.length) return STATIC_TABLE[index - 1]![1];
    const age = index - STATIC_TABLE.length - 1;
    if (age < this.#table.length) return this.#table.value(age);
    this.#isBroken = true;
    return '';
  }

  /** An integer with a prefix of `bits` bits (RFC 7541 §5.1). */
  #integer(bits: number): number {
    const most = (1 << bits) - 1;
    const first = this.#bytes[this.#at++]! & most;
    if (first < most) return first;
    let value = most;
    for (let shift = 0; this.#at < this.#to && shift <= MAX_SHIFT; shift += 7) {
      const byte = this.#bytes[this.#at++]!;
      value += (byte & 127) << shift;
      if (byte < 128) return value;
    }
    this.#isBroken = true;
    return 0;
  }

  #string(): string {
    if (this.#at >= this.#to) {
      this.#isBroken = true;
      return '';
    }
    const isHuffman = this.#bytes[this.#at]! >= 128;
    const length = this.#integer(7);
    const from = this.#at;
    const to = from + length;
    if (this.#isBroken || to > this.#to) {
      this.#isBroken = true;
      return '';
    }
    this.#at = to;
    if (!isHuffman) return this.#bytes.toString('latin1', from, to);
    const text = huffmanDecode(this.#bytes, from, to);
    if (text === null) this.#isBroken = true;
    return text ?? '';
  }
}

const EMPTY = Buffer.alloc(0);

/** No length or index that fits a block needs more bytes. */
const MAX_SHIFT = 21;
