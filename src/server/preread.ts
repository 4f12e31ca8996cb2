import type { Socket } from 'node:net';

const NO_BYTES = Buffer.alloc(0);

export interface PrereadLimits {
  readonly ms: number;
  readonly bytes: number;
}

export interface PrereadProblem {
  readonly problem: string;
}

/**
 * Reads as much of the start of a connection as `read` needs, and puts back all but the first `used` bytes
 * for the next reader. The socket is paused before and after. Never rejects.
 */
export function preread<Found extends object>(
  socket: Socket,
  limits: PrereadLimits,
  read: (bytes: Uint8Array) => Found | PrereadProblem | 'more',
  used: (found: Found) => number,
): Promise<Found | PrereadProblem> {
  return new Promise((resolve) => {
    let bytes: Buffer = NO_BYTES;
    const timer = setTimeout(
      () => settle({ problem: `it was not complete within ${limits.ms} ms` }),
      limits.ms,
    );
    const onEnd = (): void => settle({ problem: 'the client left' });
    const onReadable = (): void => {
      let chunk: Buffer | null;
      while ((chunk = socket.read() as Buffer | null) !== null)
        bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
      if (bytes.length === 0) return;
      const found = read(bytes);
      if (found !== 'more') settle(found);
      else if (bytes.length >= limits.bytes) settle({ problem: `it is longer than ${limits.bytes} bytes` });
    };
    const settle = (found: Found | PrereadProblem): void => {
      clearTimeout(timer);
      socket.off('readable', onReadable).off('end', onEnd).off('close', onEnd);
      const rest = 'problem' in found ? bytes : bytes.subarray(used(found));
      if (rest.length > 0 && !socket.destroyed && !socket.readableEnded) socket.unshift(rest);
      resolve(found);
    };
    socket.on('readable', onReadable).once('end', onEnd).once('close', onEnd);
    if (socket.destroyed) onEnd();
    else onReadable();
  });
}
