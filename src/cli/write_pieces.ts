import { writeSync } from 'node:fs';

const PIECE_UNITS = 1 << 16;

/** Writes texts to an open file in large pieces, at once: a stream would keep in memory what a pipe takes slowly. */
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

/** A pipe whose reader is slow says so; it is asked again. */
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
