/**
 * The Huffman code of HPACK (RFC 7541, appendix B). The code is canonical: codes of the same length are consecutive, in
 * the order of their symbols, so that the lengths are all there is to know.
 */

/** The length of each symbol's code in bits, one digit of base 36 for each of the 256 symbols. */
export const CODE_LENGTHS =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca' +
  'd67777777777777777777777878djde6f56565666577666567655677777fbeds' +
  'kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn' +
  'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq';

/** The longest code; that of the end of string (30 bits, all ones) must not occur. */
const MAX_LENGTH = 30;

/** Steps of four bits: the next state, in the lower 9 bits, and what is decoded. */
const NEXT = 0x1ff;
const EMITS = 0x200;
const FAILS = 0x400;
const SYMBOL_SHIFT = 16;

/** An inner node of the code tree; a child that is a number is a symbol. */
interface Node {
  readonly state: number;
  readonly children: (Node | number | null)[];
}

interface Automaton {
  /** By state and nibble. */
  readonly steps: Int32Array;
  /** Whether a string may end in a state: after fewer than 8 bits of padding, all ones (RFC 7541 §5.2). */
  readonly accepts: Uint8Array;
}

function buildAutomaton(): Automaton {
  const nodes: Node[] = [];
  const makeNode = (): Node => {
    const node = { state: nodes.length, children: [null, null] };
    nodes.push(node);
    return node;
  };
  const root = makeNode();
  let code = 0;
  for (let length = 1; length < MAX_LENGTH + 1; length++) {
    for (let symbol = 0; symbol < CODE_LENGTHS.length; symbol++) {
      if (Number.parseInt(CODE_LENGTHS[symbol]!, 36) !== length) continue;
      let node = root;
      for (let bit = length - 1; bit > 0; bit--)
        node = (node.children[(code >>> bit) & 1] ??= makeNode()) as Node;
      node.children[code & 1] = symbol;
      code++;
    }
    code <<= 1;
  }
  const steps = new Int32Array(nodes.length * 16);
  for (const { state } of nodes) {
    for (let nibble = 0; nibble < 16; nibble++)
      steps[state * 16 + nibble] = stepOf(root, nodes[state]!, nibble);
  }
  const accepts = new Uint8Array(nodes.length);
  let node: Node | number | null = root;
  for (let bits = 0; bits < 8 && node !== null && typeof node === 'object'; bits++) {
    accepts[node.state] = 1;
    node = node.children[1]!;
  }
  return { steps, accepts };
}

function stepOf(root: Node, from: Node, nibble: number): number {
  let node = from;
  let emitted = 0;
  for (let bit = 3; bit >= 0; bit--) {
    const child = node.children[(nibble >>> bit) & 1]!;
    if (child === null) return FAILS; // only the end of string has such a code
    if (typeof child === 'number') {
      emitted = EMITS | (child << SYMBOL_SHIFT);
      node = root;
    } else node = child;
  }
  return emitted | node.state;
}

let automaton: Automaton | null = null;
let decoded = Buffer.allocUnsafeSlow(1_024);

/** Decodes `bytes[from..to)` to text in Latin-1; null for an invalid code or padding. */
export function huffmanDecode(bytes: Buffer, from: number, to: number): string | null {
  const { steps, accepts } = (automaton ??= buildAutomaton());
  // The shortest code has five bits.
  const most = 2 * (to - from);
  if (decoded.length < most) decoded = Buffer.allocUnsafeSlow(2 * most);
  const out = decoded;
  let length = 0;
  let state = 0;
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!;
    const high = steps[state * 16 + (byte >>> 4)]!;
    if ((high & EMITS) !== 0) out[length++] = high >>> SYMBOL_SHIFT;
    const low = steps[(high & NEXT) * 16 + (byte & 15)]!;
    if ((low & EMITS) !== 0) out[length++] = low >>> SYMBOL_SHIFT;
    if (((high | low) & FAILS) !== 0) return null;
    state = low & NEXT;
  }
  return accepts[state] === 1 ? out.toString('latin1', 0, length) : null;
}
