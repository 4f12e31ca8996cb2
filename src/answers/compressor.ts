import type { Transform } from 'node:stream';
import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createDeflate,
  createGzip,
  createZstdCompress,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import type { Encoding } from '../engine/contract.ts';
import { Flow } from './flow.ts';
import type { BodyPart, ResponseBody } from './port.ts';

/** Level 1: 100 kB take a fifth of the time of level 6 and come out 2 to 10 % longer. */
const ZLIB = { level: constants.Z_BEST_SPEED };
/** Its window of 2^21 bytes is below the 8 MB that every client takes (RFC 9659 §3). */
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 3 } };
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

/** Compresses a whole text; `deflate` is the zlib format (RFC 9110 §8.4.1.2). */
export function compressed(bytes: Uint8Array, encoding: Encoding): Uint8Array {
  if (encoding === 'gzip') return gzipSync(bytes, ZLIB);
  if (encoding === 'deflate') return deflateSync(bytes, ZLIB);
  return encoding === 'br' ? brotliCompressSync(bytes, BROTLI) : zstdCompressSync(bytes, ZSTD);
}

/** With `flushEach` what each write brings comes out at once. */
function createEncoder(encoding: Encoding, flushEach: boolean): Transform {
  if (encoding === 'br') {
    const flush = flushEach ? constants.BROTLI_OPERATION_FLUSH : constants.BROTLI_OPERATION_PROCESS;
    return createBrotliCompress({ ...BROTLI, flush });
  }
  if (encoding === 'zstd') {
    const flush = flushEach ? constants.ZSTD_e_flush : constants.ZSTD_e_continue;
    return createZstdCompress({ ...ZSTD, flush });
  }
  const flush = flushEach ? constants.Z_SYNC_FLUSH : constants.Z_NO_FLUSH;
  return encoding === 'gzip' ? createGzip({ ...ZLIB, flush }) : createDeflate({ ...ZLIB, flush });
}

/** A body that comes out compressed, and how many bytes went in. */
export interface CompressedBody extends ResponseBody {
  readonly rawBytes: number;
}

/**
 * Compresses a body as it streams. With `flushEach` what was put in comes out at once, as Server-Sent Events need;
 * without it the encoder decides. A fault of the source is passed on and the stream left without its trailer, so
 * that nobody takes it for whole.
 */
export function compressBody(source: ResponseBody, encoding: Encoding, flushEach: boolean): CompressedBody {
  const encoder = createEncoder(encoding, flushEach);
  // The source limits its own waiting, so there is no limit here.
  const flow = new Flow({ pause: () => encoder.pause(), resume: () => encoder.resume(), idleMs: 0 });
  let rawBytes = 0;
  let begun = false;
  encoder.on('data', (bytes: Uint8Array) => flow.push(bytes));
  encoder.on('end', () => flow.end());
  encoder.on('error', (error) => flow.fail('malformed', error.message));

  async function feed(): Promise<void> {
    for (;;) {
      const part = await source.pull();
      if (part.part === 'fault') {
        encoder.destroy();
        flow.fail(part.fault, part.detail);
        return;
      }
      if (part.part === 'end') {
        encoder.end();
        return;
      }
      if (encoder.destroyed) return;
      rawBytes += part.bytes.length;
      if (!encoder.write(part.bytes)) await drained();
    }
  }

  function drained(): Promise<void> {
    return new Promise((resolve) => {
      const settle = (): void => {
        encoder.off('drain', settle).off('close', settle);
        resolve();
      };
      encoder.on('drain', settle).on('close', settle);
    });
  }

  return {
    lengthBytes: null,
    pull(): Promise<BodyPart> {
      if (!begun) {
        begun = true;
        void feed();
      }
      return flow.pull();
    },
    cancel() {
      encoder.destroy();
      source.cancel();
    },
    get rawBytes() {
      return rawBytes;
    },
  };
}
