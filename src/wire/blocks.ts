import { gatherFields, type HeadFields } from './message.ts';

/**
 * The fields of one head, read once for all heads that have the same. A client says the same of itself with each
 * request, as often as not byte for byte; bytes that are equal mean the same, so comparing them is reading them.
 */
export interface Block {
  readonly bytes: Buffer;
  readonly fields: HeadFields;
}

/** Longer ones are not kept; of others so many, whoever sends them. */
const LONGEST_BYTES = 2_048;
const KEPT_BLOCKS = 256;
const known = new Map<string, Block>();

/** The block whose fields have just been read from `bytes[from..to)`; null for one that is not kept. */
export function blockAt(bytes: Buffer, from: number, to: number): Block | null {
  if (to - from > LONGEST_BYTES) return null;
  const text = bytes.toString('latin1', from, to);
  const before = known.get(text);
  if (before !== undefined) return before;
  const block = { bytes: Buffer.from(bytes.subarray(from, to)), fields: gatherFields(text, from) };
  Object.freeze(block.fields.list); // it belongs to many requests
  if (known.size >= KEPT_BLOCKS) known.clear();
  known.set(text, block);
  return block;
}

/** Whether `bytes[from..to)` begins with what the block is. */
export function startsWith(block: Block, bytes: Buffer, from: number, to: number): boolean {
  const end = from + block.bytes.length;
  return end <= to && block.bytes.compare(bytes, from, end) === 0;
}
