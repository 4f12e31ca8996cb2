import { CODE_LENGTHS } from '../../src/http2/hpack/huffman.ts';
import { STATIC_TABLE } from '../../src/http2/hpack/static_table.ts';

export type Fields = readonly (readonly [name: string, value: string])[];

/**
 * How a field is written, in six bits: its form (2), whether an index names it, Huffman code for the name and for the
 * value, and an integer of its value's length with a redundant byte.
 */
export const MOST_CHOICES = 63;
const FORM = 3;
const BY_INDEX = 4;
const HUFFMAN_NAME = 8;
const HUFFMAN_VALUE = 16;
const REDUNDANT = 32;

/** Forms: without indexing, with it, never indexed, and an index of the whole field where there is one. */
const WITH_INDEXING = 1;
const WHOLE = 3;
const LITERALS = [
  { first: 0x00, bits: 4 },
  { first: 0x40, bits: 6 },
  { first: 0x10, bits: 4 },
] as const;

const TABLE_BYTES = 4_096;
const ENTRY_OVERHEAD_BYTES = 32;

/** Writes header blocks in each way that RFC 7541 has, chosen by numbers; it keeps its dynamic table. */
export class ChoosingEncoder {
  readonly #table: (readonly [string, string])[] = [];
  #maxBytes = TABLE_BYTES;

  /** `choices` are repeated for all fields; without any, fields are plain literals. `sizes` are updates of the table. */
  block(fields: Fields, choices: readonly number[], sizes: readonly number[]): Buffer {
    const updates = sizes.flatMap((size) => {
      this.#resize(size);
      return integer(size, 5, 0x20, false);
    });
    const written = fields.flatMap(([name, value], at) =>
      this.#field(name, value, choices[at % choices.length] ?? 0),
    );
    return Buffer.from([...updates, ...written]);
  }

  #field(name: string, value: string, choice: number): number[] {
    const form = choice & FORM;
    const entries = [...STATIC_TABLE, ...this.#table];
    const whole = entries.findIndex((entry) => entry[0] === name && entry[1] === value) + 1;
    if (form === WHOLE && whole > 0) return integer(whole, 7, 0x80, false);
    const { first, bits } = LITERALS[form === WHOLE ? WITH_INDEXING : form]!;
    const named = (choice & BY_INDEX) === 0 ? 0 : entries.findIndex((entry) => entry[0] === name) + 1;
    if (bits === 6) this.#add(name, value);
    return [
      ...integer(named, bits, first, false),
      ...(named === 0 ? text(name, (choice & HUFFMAN_NAME) !== 0, false) : []),
      ...text(value, (choice & HUFFMAN_VALUE) !== 0, (choice & REDUNDANT) !== 0),
    ];
  }

  #add(name: string, value: string): void {
    this.#table.unshift([name, value]);
    this.#resize(this.#maxBytes);
  }

  #resize(maxBytes: number): void {
    this.#maxBytes = maxBytes;
    const bytes = () =>
      this.#table.reduce((sum, entry) => sum + entry[0].length + entry[1].length + ENTRY_OVERHEAD_BYTES, 0);
    while (bytes() > maxBytes) this.#table.pop();
  }
}

/** RFC 7541 §5.1; a redundant byte adds zero. */
function integer(value: number, bits: number, first: number, isRedundant: boolean): number[] {
  const most = 2 ** bits - 1;
  if (value < most) return [first | value];
  const out = [first | most];
  let rest = value - most;
  for (; rest >= 128; rest >>= 7) out.push((rest & 127) | 128);
  return isRedundant ? [...out, rest | 128, 0] : [...out, rest];
}

function text(value: string, isHuffman: boolean, isRedundant: boolean): number[] {
  const bytes = isHuffman ? huffman(value) : [...Buffer.from(value, 'latin1')];
  return [...integer(bytes.length, 7, isHuffman ? 0x80 : 0, isRedundant), ...bytes];
}

/** The codes of RFC 7541, appendix B, as text in bits: the code is canonical. */
function codes(): string[] {
  const out: string[] = [];
  let code = 0;
  for (let length = 1; length <= 30; length++, code *= 2) {
    for (let symbol = 0; symbol < CODE_LENGTHS.length; symbol++) {
      if (Number.parseInt(CODE_LENGTHS[symbol]!, 36) === length)
        out[symbol] = (code++).toString(2).padStart(length, '0');
    }
  }
  return out;
}

const CODES = codes();

function huffman(value: string): number[] {
  const bits = Array.from(Buffer.from(value, 'latin1'), (byte) => CODES[byte]!).join('');
  const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, '1');
  return Array.from({ length: padded.length / 8 }, (_, at) =>
    Number.parseInt(padded.slice(8 * at, 8 * at + 8), 2),
  );
}
