/** Raw DEFLATE (RFC 1951) for the redirect binding. zlib is deterministic here, so a pure room may use it. */
import { nodeZlib } from '../../loading/builtins.ts';

interface Inflated {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

/** The inflated bytes; null if the input is malformed, continues after its last block, or exceeds the limit. */
export function inflateRaw(bytes: Uint8Array, limitBytes: number): Uint8Array | null {
  try {
    // The types of Node lack `info`: with it, the result tells how much of the input was read.
    const options = { maxOutputLength: limitBytes, info: true };
    const { buffer, engine } = nodeZlib().inflateRawSync(bytes, options) as unknown as Inflated;
    return engine.bytesWritten === bytes.length ? buffer : null;
  } catch {
    return null;
  }
}

/** Raw DEFLATE without compression: compressed bytes differ between builds of zlib, and messages are small. */
export function deflateStored(bytes: Uint8Array): Uint8Array {
  return nodeZlib().deflateRawSync(bytes, { level: 0 });
}
