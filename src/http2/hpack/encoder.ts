import { STATIC_TABLE } from './static_table.ts';

/**
 * Writes header blocks with the static table and literals that are never added to the dynamic one (RFC 7541 §6.2.2): a
 * block then depends on its fields only, so that it is made once for fields that recur, and no peer makes this side keep
 * anything. Text in Latin-1.
 */

const indexOfName = new Map<string, number>();
const indexOfStatus = new Map<string, number>();
STATIC_TABLE.forEach(([name, value], at) => {
  if (!indexOfName.has(name)) indexOfName.set(name, at + 1);
  if (name === ':status') indexOfStatus.set(value, at + 1);
});

/** A size update (RFC 7541 §6.3): the encoder uses no dynamic table. */
export const EMPTY_TABLE = '\x20';

const LITERAL = 0x00;
/** A literal that no intermediary may add to its table either (RFC 7541 §6.2.3, §7.1.3). */
const NEVER_INDEXED = 0x10;
const SECRET: ReadonlySet<string> = new Set(['set-cookie', 'authorization', 'proxy-authorization', 'cookie']);

/** An integer with a prefix of `bits` bits, below `first` in its first byte (RFC 7541 §5.1). */
function integer(value: number, bits: number, first: number): string {
  const most = (1 << bits) - 1;
  if (value < most) return String.fromCharCode(first | value);
  let text = String.fromCharCode(first | most);
  let rest = value - most;
  for (; rest >= 128; rest = Math.floor(rest / 128)) text += String.fromCharCode((rest % 128) | 128);
  return text + String.fromCharCode(rest);
}

/** A string without Huffman code. */
function literal(text: string): string {
  return text.length < 127 ? String.fromCharCode(text.length) + text : integer(text.length, 7, 0) + text;
}

/** Everything of a field that goes before its value; `name` is in lower case. */
export function encodeName(name: string): string {
  const form = SECRET.has(name) ? NEVER_INDEXED : LITERAL;
  const index = indexOfName.get(name);
  return index === undefined ? String.fromCharCode(form) + literal(name) : integer(index, 4, form);
}

export const encodeValue: (value: string) => string = literal;

/** The pseudo-header of a response. */
export function encodeStatus(status: number): string {
  const text = String(status);
  const index = indexOfStatus.get(text);
  return index === undefined ? encodeName(':status') + literal(text) : String.fromCharCode(0x80 | index);
}
