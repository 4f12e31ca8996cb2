import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';

/** How bytes are split: not at all, one by one, or at places that a seed chooses. */
export type Split = 'whole' | 'bytes' | 'random';

/** Writes Latin-1 text; settles when it is written or the socket has closed. */
export type Send = (socket: Socket, text: string) => Promise<void>;

/** Longer text is split into about this many pieces, so that a case of a megabyte does not take a minute. */
const PIECES = 400;

/** A sender; the same seed splits at the same places. */
export function sender(split: Split, seed = 1): Send {
  let state = seed;
  const chance = (): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
  return async (socket, text) => {
    const bytes = Buffer.from(text, 'latin1');
    const least = Math.ceil(bytes.length / PIECES);
    for (let at = 0; at < bytes.length && socket.writable;) {
      const length =
        split === 'whole'
          ? bytes.length
          : split === 'bytes'
            ? least
            : least + Math.floor(chance() * 24 * least);
      socket.write(bytes.subarray(at, at + length));
      at += length;
      if (at < bytes.length) await setImmediate();
    }
  };
}

/** A socket whose errors are handled by the other side. */
export function settledSocket(socket: Socket): Socket {
  socket.setNoDelay(true);
  return socket.on('error', () => undefined);
}
