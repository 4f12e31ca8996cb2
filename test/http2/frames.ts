/** HTTP/2 frames (RFC 9113 §4) for clients and servers that do what libraries do not allow. */

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
} as const;

export const FLAG = { endStream: 1, ack: 1, endHeaders: 4 } as const;

/** The frame size that every peer accepts. */
const FRAME_BYTES = 16_384;

const NOTHING = Buffer.alloc(0);

export function frame(type: number, flags: number, stream: number, payload: Uint8Array = NOTHING): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Fields as HPACK literals without index and Huffman code (RFC 7541 §6.2.2). */
export function block(fields: readonly (readonly [string, string])[]): Buffer {
  const text = (value: string): Buffer => {
    const bytes = Buffer.from(value, 'latin1');
    if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
    const length = [127];
    let rest = bytes.length - 127;
    for (; rest >= 128; rest >>= 7) length.push((rest & 127) | 128);
    length.push(rest);
    return Buffer.concat([Buffer.from(length), bytes]);
  };
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]));
}

export function headers(
  stream: number,
  fields: readonly (readonly [string, string])[],
  endStream = true,
): Buffer {
  const bytes = block(fields);
  const pieces: Buffer[] = [];
  for (let at = 0; at === 0 || at < bytes.length; at += FRAME_BYTES) {
    const isFirst = at === 0;
    const isLast = at + FRAME_BYTES >= bytes.length;
    const flags = (isLast ? FLAG.endHeaders : 0) | (isFirst && endStream ? FLAG.endStream : 0);
    const type = isFirst ? FRAME.headers : FRAME.continuation;
    pieces.push(frame(type, flags, stream, bytes.subarray(at, at + FRAME_BYTES)));
  }
  return Buffer.concat(pieces);
}

/** A request head; `more` follows its pseudo-headers. */
export function request(
  stream: number,
  target: string,
  options: {
    readonly method?: string;
    readonly authority?: string;
    readonly scheme?: string;
    readonly endStream?: boolean;
    readonly more?: readonly (readonly [string, string])[];
  } = {},
): Buffer {
  const { method = 'GET', authority = 'a.test', scheme = 'http', endStream = true, more = [] } = options;
  const pseudo = [
    [':method', method],
    [':scheme', scheme],
    [':authority', authority],
    [':path', target],
  ] as const;
  return headers(stream, [...pseudo, ...more], endStream);
}

export function settings(values: readonly (readonly [id: number, value: number])[] = []): Buffer {
  const payload = Buffer.alloc(6 * values.length);
  values.forEach(([id, value], index) => {
    payload.writeUInt16BE(id, 6 * index);
    payload.writeUInt32BE(value, 6 * index + 2);
  });
  return frame(FRAME.settings, 0, 0, payload);
}

export const SETTINGS_ACK = frame(FRAME.settings, FLAG.ack, 0);

export function data(stream: number, bytes: Uint8Array | string, endStream = false): Buffer {
  return frame(FRAME.data, endStream ? FLAG.endStream : 0, stream, Buffer.from(bytes));
}

export function reset(stream: number, code: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(code);
  return frame(FRAME.reset, 0, stream, payload);
}

export function windowUpdate(stream: number, by: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(by);
  return frame(FRAME.window, 0, stream, payload);
}

export function goaway(last: number, code: number): Buffer {
  const payload = Buffer.alloc(8);
  payload.writeUInt32BE(last, 0);
  payload.writeUInt32BE(code, 4);
  return frame(FRAME.goaway, 0, 0, payload);
}

export function ping(isAnswer = false): Buffer {
  return frame(FRAME.ping, isAnswer ? FLAG.ack : 0, 0, Buffer.alloc(8, 7));
}

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** Returns whole frames from received pieces. */
export function frameReader(take: (frame: Frame) => void): (bytes: Buffer) => void {
  let held: Buffer = Buffer.alloc(0);
  return (bytes) => {
    held = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
    while (held.length >= 9) {
      const length = held.readUIntBE(0, 3);
      if (held.length < 9 + length) return;
      const [type, flags] = [held[3]!, held[4]!];
      const stream = held.readUInt32BE(5) & 0x7fff_ffff;
      const payload = held.subarray(9, 9 + length);
      held = held.subarray(9 + length);
      take({ type, flags, stream, payload });
    }
  };
}
