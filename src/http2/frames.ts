/** Frames of HTTP/2 (RFC 9113 §4.1, §6), written as text in Latin-1. */

export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const FLAG = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

/** Settings by their identifiers (RFC 9113 §6.5.2, RFC 8441 §3). */
export const SETTING = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
  enableConnectProtocol: 8,
} as const;

export const FRAME_HEAD_BYTES = 9;

/** The size of frames that every peer accepts; neither side of ours asks for larger ones. */
export const MAX_FRAME_BYTES = 16_384;

/** The largest window (RFC 9113 §6.9.1), and the highest stream id. */
export const MAX_31_BITS = 0x7fff_ffff;

/** The initial window of connections and streams, in bytes. */
export const DEFAULT_WINDOW_BYTES = 65_535;

export function frameHead(length: number, type: number, flags: number, stream: number): string {
  return String.fromCharCode(
    length >>> 16,
    (length >>> 8) & 255,
    length & 255,
    type,
    flags,
    stream >>> 24,
    (stream >>> 16) & 255,
    (stream >>> 8) & 255,
    stream & 255,
  );
}

function uint32(value: number): string {
  return String.fromCharCode(value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255);
}

export function settingsFrame(settings: readonly (readonly [id: number, value: number])[]): string {
  const payload = settings.map(([id, value]) => String.fromCharCode(id >>> 8, id & 255) + uint32(value));
  return frameHead(6 * settings.length, FRAME.settings, 0, 0) + payload.join('');
}

export const SETTINGS_ACK = frameHead(0, FRAME.settings, FLAG.ack, 0);

/** `payload` is 8 bytes. */
export function pingFrame(payload: string, isAck: boolean): string {
  return frameHead(8, FRAME.ping, isAck ? FLAG.ack : 0, 0) + payload;
}

export function goawayFrame(lastStream: number, code: number, detail = ''): string {
  return frameHead(8 + detail.length, FRAME.goaway, 0, 0) + uint32(lastStream) + uint32(code) + detail;
}

export function resetFrame(stream: number, code: number): string {
  return frameHead(4, FRAME.reset, 0, stream) + uint32(code);
}

export function windowUpdateFrame(stream: number, bytes: number): string {
  return frameHead(4, FRAME.windowUpdate, 0, stream) + uint32(bytes);
}

/** A header block as one HEADERS frame and as many CONTINUATION frames as it needs (RFC 9113 §4.3). */
export function headersFrames(stream: number, block: string, endsStream: boolean): string {
  const flags = endsStream ? FLAG.endStream : 0;
  if (block.length <= MAX_FRAME_BYTES)
    return frameHead(block.length, FRAME.headers, flags | FLAG.endHeaders, stream) + block;
  let frames = frameHead(MAX_FRAME_BYTES, FRAME.headers, flags, stream) + block.slice(0, MAX_FRAME_BYTES);
  for (let at = MAX_FRAME_BYTES; at < block.length; at += MAX_FRAME_BYTES) {
    const piece = block.slice(at, at + MAX_FRAME_BYTES);
    const isLast = at + MAX_FRAME_BYTES >= block.length;
    frames += frameHead(piece.length, FRAME.continuation, isLast ? FLAG.endHeaders : 0, stream) + piece;
  }
  return frames;
}
