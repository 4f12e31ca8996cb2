import { secretBytes } from '../crypto/random.ts';

/** Going away (RFC 6455, section 7.4.1): the server stops. */
const GOING_AWAY = 1_001;
const MASKED = 0x80;
const LENGTH_BITS = 0x7f;

/** Follows the frames of one direction (RFC 6455, section 5.2), to know where one may be inserted. */
export class FrameBoundary {
  readonly #head: number[] = [];
  #leftBytes = 0;

  /** Whether the last byte was the last one of a frame. */
  get isBetween(): boolean {
    return this.#leftBytes === 0 && this.#head.length === 0;
  }

  take(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#leftBytes > 0) {
        const skipped = Math.min(this.#leftBytes, bytes.length - at);
        this.#leftBytes -= skipped;
        at += skipped;
        continue;
      }
      this.#head.push(bytes[at++]!);
      if (this.#head.length < headBytes(this.#head)) continue;
      this.#leftBytes = contentBytes(this.#head);
      this.#head.length = 0;
    }
  }
}

function headBytes([, second = 0]: readonly number[]): number {
  const length = second & LENGTH_BITS;
  const extended = length === 126 ? 2 : length === 127 ? 8 : 0;
  return 2 + extended + ((second & MASKED) === 0 ? 0 : 4);
}

function contentBytes(head: readonly number[]): number {
  const length = head[1]! & LENGTH_BITS;
  if (length < 126) return length;
  return head.slice(2, length === 126 ? 4 : 10).reduce((sum, byte) => sum * 256 + byte, 0);
}

/** A close frame of a server, or a masked one of a client. */
export function goingAwayFrame(isMasked: boolean): Uint8Array {
  const code = Buffer.alloc(2);
  code.writeUInt16BE(GOING_AWAY);
  if (!isMasked) return Buffer.concat([Buffer.from([0x88, code.length]), code]);
  const mask = secretBytes(4);
  const hidden = code.map((byte, index) => byte ^ mask[index]!);
  return Buffer.concat([Buffer.from([0x88, MASKED | code.length]), mask, hidden]);
}
