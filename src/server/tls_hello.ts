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

/**
 * Parses the ClientHello at the start of a connection, over any number of records. It decides which edge gets
 * the connection, so parsing is strict: anything that OpenSSL could read differently is a problem.
 */
export function readClientHello(bytes: Uint8Array): HelloReading {
  const message = handshakeMessage(bytes);
  if (message === 'more' || 'problem' in message) return message;
  return readBody(message.body);
}

/** Joins the fragments of the first handshake message. */
function handshakeMessage(
  bytes: Uint8Array,
): { readonly body: Uint8Array } | 'more' | { readonly problem: string } {
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
      const [, high, middle, low] = joined(fragments, MESSAGE_HEAD_BYTES);
      wanted = MESSAGE_HEAD_BYTES + high! * 65_536 + middle! * 256 + low!;
      if (wanted > HELLO_BYTES) return { problem: `its ClientHello is longer than ${HELLO_BYTES} bytes` };
    }
    if (fragment.length < length) {
      // The rest of this record is missing, but the message may be complete already.
      if (wanted < 0 || have < wanted) return 'more';
    }
    at += RECORD_HEAD_BYTES + length;
  }
  return { body: joined(fragments, wanted).subarray(MESSAGE_HEAD_BYTES) };
}

function joined(fragments: readonly Uint8Array[], bytes: number): Uint8Array {
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

function readBody(body: Uint8Array): ClientHello | { readonly problem: string } {
  let at = 2 + 32; // version and random
  for (const lengthOctets of [1, 2, 1]) {
    // session id, cipher suites, compression methods
    const skipped = vectorAt(body, at, lengthOctets);
    if (skipped === null) return TOO_SHORT;
    at = skipped.end;
  }
  // TLS 1.2 allows a ClientHello without extensions (RFC 5246 §7.4.1.2).
  if (at === body.length) return { serverName: '', protocols: [] };
  const extensions = vectorAt(body, at, 2);
  if (extensions === null || extensions.end !== body.length) return TOO_SHORT;
  return readExtensions(extensions.contents);
}

function readExtensions(bytes: Uint8Array): ClientHello | { readonly problem: string } {
  let serverName = '';
  let protocols: readonly string[] = [];
  const seen = new Set<number>();
  for (let at = 0; at < bytes.length;) {
    const contents = vectorAt(bytes, at + 2, 2);
    if (contents === null) return TOO_SHORT;
    const type = bytes[at]! * 256 + bytes[at + 1]!;
    // RFC 8446 §4.2: at most one extension of each type.
    if (seen.has(type)) return { problem: 'it contains an extension twice' };
    seen.add(type);
    at = contents.end;
    if (type === EXTENSION.serverName) {
      const name = readServerName(contents.contents);
      if (typeof name !== 'string') return name;
      serverName = name;
    } else if (type === EXTENSION.protocols) {
      const list = readProtocols(contents.contents);
      if ('problem' in list) return list;
      ({ protocols } = list);
    }
  }
  return { serverName, protocols };
}

function readServerName(bytes: Uint8Array): string | { readonly problem: string } {
  const list = vectorAt(bytes, 0, 2);
  if (list === null || list.end !== bytes.length || list.contents[0] !== HOST_NAME) return TOO_SHORT;
  const name = vectorAt(list.contents, 1, 2);
  // RFC 6066 §3: one name of each type, and there is only one type.
  if (name === null || name.end !== list.contents.length) return TOO_SHORT;
  const text = String.fromCharCode(...name.contents)
    .toLowerCase()
    .replace(/\.$/, '');
  return NAME.test(text) ? text : { problem: 'its server name is not a host name' };
}

function readProtocols(
  bytes: Uint8Array,
): { readonly protocols: readonly string[] } | { readonly problem: string } {
  const list = vectorAt(bytes, 0, 2);
  if (list === null || list.end !== bytes.length) return TOO_SHORT;
  const protocols: string[] = [];
  for (let at = 0; at < list.contents.length;) {
    const name = vectorAt(list.contents, at, 1);
    if (name === null || name.contents.length === 0) return TOO_SHORT;
    protocols.push(String.fromCharCode(...name.contents));
    at = name.end;
  }
  return { protocols };
}

/** A vector with its length in front (RFC 8446 §3.4); null when it exceeds the input. */
function vectorAt(
  bytes: Uint8Array,
  at: number,
  lengthOctets: number,
): { readonly contents: Uint8Array; readonly end: number } | null {
  if (at + lengthOctets > bytes.length) return null;
  const length = lengthOctets === 1 ? bytes[at]! : bytes[at]! * 256 + bytes[at + 1]!;
  const end = at + lengthOctets + length;
  return end > bytes.length ? null : { contents: bytes.subarray(at + lengthOctets, end), end };
}
