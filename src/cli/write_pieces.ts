import { writeSync } from 'node:fs';

const PIECE_UNITS = 1 << 16;

/**
 * Writes text to an open file in large chunks, synchronously: a stream would buffer in memory what a slow
 * pipe does not take.
 */
export function pieceWriter(file: number): {
  readonly write: (text: string) => void;
  readonly close: () => void;
} {
  let waiting = '';
  const flush = () => {
    let bytes: Buffer = Buffer.from(waiting);
    waiting = '';
    while (bytes.length > 0) bytes = bytes.subarray(written(file, bytes));
  };
  return {
    write: (text) => {
      waiting += text;
      if (waiting.length > PIECE_UNITS) flush();
    },
    close: flush,
  };
}

/** A pipe with a slow reader fails with EAGAIN; the write is repeated. */
function written(file: number, bytes: Buffer): number {
  try {
    return writeSync(file, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
      return 0;
    }
    throw error;
  }
}
