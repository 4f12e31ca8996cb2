import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { Compressor } from './flight.ts';

/** Compresses a body as the edge would send it. */
export function compress(...[bytes, encoding]: Parameters<Compressor>): ReturnType<Compressor> {
  if (encoding === 'gzip') return gzipSync(bytes);
  if (encoding === 'deflate') return deflateSync(bytes);
  return encoding === 'br' ? brotliCompressSync(bytes) : zstdCompressSync(bytes);
}
