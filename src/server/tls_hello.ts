/** The unencrypted first message of a TLS client (RFC 8446 §4.1.2). */
interface ClientHello {
  /** Lower case, without trailing dot; empty when the client sends none (RFC 6066 §3). */
  readonly serverName: string;
  /** Protocols that it offers, in its order (RFC 7301). */
  readonly protocols: readonly string[];
}

export type HelloReading = ClientHello | 'more' | { readonly problem: string };

const HANDSHAKE_RECORD = 22;
const CLIENT_HELLO = 1;
const RECORD_HEAD_BYTES = 5;
const MESSAGE_HEAD_BYTES = 4;
/** RFC 8446 §5.1: a record contains at most 2^14 bytes of plain text. */
const RECORD_BYTES = 16_384;
/** Far more than any client sends, including post-quantum key shares. */
export const HELLO_BYTES = 65_536;
const EXTENSION = { serverName: 0, protocols: 16 } as const;
const HOST_NAME = 0;
const NAME = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_](?:[a-z0-9_-]{0,62}))*$/;

const TOO_SHORT = { problem: 'a length in it exceeds its size' };

/** Part of a message: the bytes from `from` on, up to `to`. A handshake reads many parts, so none is an array of its own. */
interface Part {
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly to: number;
}

/**
 * Parses the ClientHello at the start of a connection, over any number of records. It decides which edge gets
 * the connection, so parsing is strict: anything that OpenSSL could read differently is a problem.
 */
export function readClientHello(bytes: Uint8Array): HelloReading {
  const message = handshakeMessage(bytes);
  if (message === 'more' || 'problem' in message) return message;
  return readBody(message);
}

/** The body of the first handshake message, which may be in several records. */
function handshakeMessage(bytes: Uint8Array): Part | 'more' | { readonly problem: string } {
  const fragments: Uint8Array[] = [];
  let have = 0;
  let wanted = -1;
  let at = 0;
  while (wanted < 0 || have < wanted) {
    if (bytes.length > at && bytes[at] !== HANDSHAKE_RECORD) return { problem: 'it is not a TLS handshake' };
    if (bytes.length > at + 1 && bytes[at + 1] !== 3) return { problem: 'it is not a TLS record' };
    if (bytes.length < at + RECORD_HEAD_BYTES) return 'more';
    const length = bytes[at + 3]! * 256 + bytes[at + 4]!;
    if (length === 0 || length > RECORD_BYTES) return { problem: 'the length of a record is not allowed' };
    const fragment = bytes.subarray(at + RECORD_HEAD_BYTES, at + RECORD_HEAD_BYTES + length);
    fragments.push(fragment);
    have += fragment.length;
    if (wanted < 0 && have > 0 && fragments[0]![0] !== CLIENT_HELLO) {
      return { problem: 'its first message is not a ClientHello' };
    }
    if (wanted < 0 && have >= MESSAGE_HEAD_BYTES) {
      const head = joined(fragments, MESSAGE_HEAD_BYTES);
      wanted = MESSAGE_HEAD_BYTES + head[1]! * 65_536 + head[2]! * 256 + head[3]!;
      if (wanted > HELLO_BYTES) return { problem: `its ClientHello is longer than ${HELLO_BYTES} bytes` };
    }
    if (fragment.length < length) {
      // The rest of this record is missing, but the message may be complete already.
      if (wanted < 0 || have < wanted) return 'more';
    }
    at += RECORD_HEAD_BYTES + length;
  }
  return { bytes: joined(fragments, wanted), from: MESSAGE_HEAD_BYTES, to: wanted };
}

/** The first bytes of all fragments; they are nearly always in the first one, and are not copied then. */
function joined(fragments: readonly Uint8Array[], bytes: number): Uint8Array {
  const [first] = fragments;
  if (first!.length >= bytes) return first!;
  const all = new Uint8Array(bytes);
  let at = 0;
  for (const fragment of fragments) {
    const part = fragment.subarray(0, bytes - at);
    all.set(part, at);
    at += part.length;
    if (at === bytes) break;
  }
  return all;
}

function readBody({ bytes, from, to }: Part): ClientHello | { readonly problem: string } {
  let at = from + 2 + 32; // version and random
  for (const lengthOctets of [1, 2, 1]) {
    // session id, cipher suites, compression methods
    at = endOfVector(bytes, at, lengthOctets, to);
    if (at < 0) return TOO_SHORT;
  }
  // TLS 1.2 allows a ClientHello without extensions (RFC 5246 §7.4.1.2).
  if (at === to) return { serverName: '', protocols: [] };
  if (endOfVector(bytes, at, 2, to) !== to) return TOO_SHORT;
  return readExtensions({ bytes, from: at + 2, to });
}

function readExtensions({ bytes, from, to }: Part): ClientHello | { readonly problem: string } {
  let serverName = '';
  let protocols: readonly string[] = [];
  const seen = new Set<number>();
  for (let at = from; at < to;) {
    const end = endOfVector(bytes, at + 2, 2, to);
    if (end < 0) return TOO_SHORT;
    const type = bytes[at]! * 256 + bytes[at + 1]!;
    // RFC 8446 §4.2: at most one extension of each type.
    if (seen.has(type)) return { problem: 'it contains an extension twice' };
    seen.add(type);
    const contents = { bytes, from: at + 4, to: end };
    at = end;
    if (type === EXTENSION.serverName) {
      const name = readServerName(contents);
      if (typeof name !== 'string') return name;
      serverName = name;
    } else if (type === EXTENSION.protocols) {
      const list = readProtocols(contents);
      if ('problem' in list) return list;
      ({ protocols } = list);
    }
  }
  return { serverName, protocols };
}

function readServerName({ bytes, from, to }: Part): string | { readonly problem: string } {
  const list = from + 2;
  if (endOfVector(bytes, from, 2, to) !== to || bytes[list] !== HOST_NAME) return TOO_SHORT;
  // RFC 6066 §3: one name of each type, and there is only one type.
  if (endOfVector(bytes, list + 1, 2, to) !== to) return TOO_SHORT;
  const text = latin1({ bytes, from: list + 3, to })
    .toLowerCase()
    .replace(/\.$/, '');
  return NAME.test(text) ? text : { problem: 'its server name is not a host name' };
}

function readProtocols({
  bytes,
  from,
  to,
}: Part): { readonly protocols: readonly string[] } | { readonly problem: string } {
  if (endOfVector(bytes, from, 2, to) !== to) return TOO_SHORT;
  const protocols: string[] = [];
  for (let at = from + 2; at < to;) {
    const end = endOfVector(bytes, at, 1, to);
    if (end < 0 || end === at + 1) return TOO_SHORT;
    protocols.push(latin1({ bytes, from: at + 1, to: end }));
    at = end;
  }
  return { protocols };
}

function latin1({ bytes, from, to }: Part): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('latin1');
}

/** Where a vector with its length in front ends (RFC 8446 §3.4); -1 when that is behind `to`. */
function endOfVector(bytes: Uint8Array, at: number, lengthOctets: number, to: number): number {
  if (at + lengthOctets > to) return -1;
  const length = lengthOctets === 1 ? bytes[at]! : bytes[at]! * 256 + bytes[at + 1]!;
  const end = at + lengthOctets + length;
  return end > to ? -1 : end;
}
