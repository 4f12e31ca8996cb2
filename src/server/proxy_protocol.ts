import type { Connection } from '../engine/contract.ts';
import { type Address, parseAddress } from '../net/address.ts';

/**
 * The PROXY protocol, versions 1 and 2 ("The PROXY protocol", HAProxy, 2020/03/05): a header at the start of
 * a connection in which a proxy names the client.
 */

/** The client of a connection; `from` is null when the proxy connects for itself (`LOCAL`, `UNKNOWN`). */
export interface ProxyHeader {
  readonly from: {
    readonly client: Address;
    readonly clientPort: number;
    readonly server: Address;
    readonly serverPort: number;
  } | null;
  /** Length of the header in bytes. */
  readonly bytes: number;
}

/** `more`: the header is incomplete. */
export type ProxyReading = ProxyHeader | 'more' | { readonly problem: string };

/** §2.2: twelve bytes that no other protocol starts with. */
const SIGNATURE = Uint8Array.from([0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a]);
/** §2.1: maximum length of a version 1 line, with its CRLF. */
const V1_BYTES = 107;
const V2_HEAD_BYTES = 16;
/** Room for the addresses and type-length-value fields; a longer header is refused unread. */
const V2_BODY_BYTES = 4_096;

const ADDRESS_BYTES = { 4: 4, 6: 16 } as const;
const PROXY = { command: 0x21, local: 0x20 } as const;
const STREAM_4 = 0x11;
const STREAM_6 = 0x21;

/** Writes the header of a connection: the client's address and the destination. */
export function proxyHeader(version: 'v1' | 'v2', connection: Connection): Uint8Array {
  const server = parseAddress(connection.serverIp);
  const { client, clientPort, serverPort } = connection;
  const both = server === null || server.family !== client.family ? null : server;
  return version === 'v1'
    ? v1Header(client, clientPort, both, serverPort)
    : v2Header(client, clientPort, both, serverPort);
}

function v1Header(client: Address, clientPort: number, server: Address | null, port: number): Uint8Array {
  const line =
    server === null
      ? 'PROXY UNKNOWN\r\n'
      : `PROXY TCP${client.family} ${client.text} ${server.text} ${clientPort} ${port}\r\n`;
  return new TextEncoder().encode(line);
}

function v2Header(client: Address, clientPort: number, server: Address | null, port: number): Uint8Array {
  if (server === null) return Uint8Array.from([...SIGNATURE, PROXY.local, 0x00, 0x00, 0x00]);
  const size = ADDRESS_BYTES[client.family];
  const length = 2 * size + 4;
  return Uint8Array.from([
    ...SIGNATURE,
    PROXY.command,
    client.family === 4 ? STREAM_4 : STREAM_6,
    ...octets(length),
    ...addressBytes(client),
    ...addressBytes(server),
    ...octets(clientPort),
    ...octets(port),
  ]);
}

function octets(number: number): [number, number] {
  return [number >> 8, number & 0xff];
}

/** Parses the header at the start of a connection. Anything that is not exactly one is a problem. */
export function readProxyHeader(bytes: Uint8Array): ProxyReading {
  if (bytes.length === 0) return 'more';
  return bytes[0] === SIGNATURE[0] ? readV2(bytes) : readV1(bytes);
}

// --- version 1 -----------------------------------------------------------------------------------------------

const V1_BEGINNING = 'PROXY ';
const V1_LINE = /^PROXY (?:(TCP4|TCP6) (\S+) (\S+) (0|[1-9]\d{0,4}) (0|[1-9]\d{0,4})|UNKNOWN(?: [^\r\n]*)?)$/;

function readV1(bytes: Uint8Array): ProxyReading {
  const text = String.fromCharCode(...bytes.subarray(0, V1_BYTES));
  if (!text.startsWith(V1_BEGINNING.slice(0, text.length)))
    return { problem: 'it does not start with PROXY' };
  const end = text.indexOf('\r\n');
  if (end < 0) return text.length < V1_BYTES ? 'more' : { problem: 'its line does not end' };
  const parts = V1_LINE.exec(text.slice(0, end));
  if (parts === null) return { problem: 'its line is not a valid version 1 header' };
  const [, family, source, destination, sourcePort, destinationPort] = parts;
  if (family === undefined) return { from: null, bytes: end + 2 };
  const client = addressOf(source!, family);
  const server = addressOf(destination!, family);
  const clientPort = Number(sourcePort);
  const serverPort = Number(destinationPort);
  if (client === null || server === null) return { problem: `an address is not a ${family} address` };
  if (clientPort > 65_535 || serverPort > 65_535) return { problem: 'a port is above 65535' };
  return { from: { client, clientPort, server, serverPort }, bytes: end + 2 };
}

/** An IPv4-mapped address in a TCP6 line is IPv4 here, as everywhere. */
function addressOf(text: string, family: string): Address | null {
  const address = parseAddress(text);
  if (address === null || text.includes(':') !== (family === 'TCP6')) return null;
  return address;
}

// --- version 2 -----------------------------------------------------------------------------------------------

function readV2(bytes: Uint8Array): ProxyReading {
  for (let at = 0; at < SIGNATURE.length && at < bytes.length; at++) {
    if (bytes[at] !== SIGNATURE[at]) return { problem: 'it does not start with the signature of version 2' };
  }
  if (bytes.length < V2_HEAD_BYTES) return 'more';
  const command = bytes[12]!;
  if (command !== PROXY.command && command !== PROXY.local) {
    return { problem: 'its version or command is unknown' };
  }
  const length = bytes[14]! * 256 + bytes[15]!;
  if (length > V2_BODY_BYTES) return { problem: `it is longer than ${V2_BODY_BYTES} bytes` };
  const whole = V2_HEAD_BYTES + length;
  if (bytes.length < whole) return 'more';
  // §2.2: a receiver of LOCAL uses the real addresses. It may do so for other families; here they are refused.
  if (command === PROXY.local) return { from: null, bytes: whole };
  const family = bytes[13]!;
  if (family !== STREAM_4 && family !== STREAM_6) return { problem: 'its addresses are not TCP addresses' };
  const size = family === STREAM_4 ? 4 : 16;
  if (length < 2 * size + 4) return { problem: 'it is too short for its addresses' };
  const at = (offset: number) => V2_HEAD_BYTES + offset;
  const port = (offset: number) => bytes[at(offset)]! * 256 + bytes[at(offset) + 1]!;
  const client = addressFrom(bytes.subarray(at(0), at(size)));
  const server = addressFrom(bytes.subarray(at(size), at(2 * size)));
  return {
    from: { client, clientPort: port(2 * size), server, serverPort: port(2 * size + 2) },
    bytes: whole,
  };
}

function addressFrom(bytes: Uint8Array): Address {
  if (bytes.length === 4) return parseAddress(bytes.join('.'))!;
  const groups = Array.from({ length: 8 }, (_, index) =>
    (bytes[2 * index]! * 256 + bytes[2 * index + 1]!).toString(16),
  );
  return parseAddress(groups.join(':'))!;
}

function addressBytes(address: Address): number[] {
  const words = address.family === 4 ? [address.w3] : [address.w0, address.w1, address.w2, address.w3];
  return words.flatMap((word) => [
    (word >>> 24) & 0xff,
    (word >>> 16) & 0xff,
    (word >>> 8) & 0xff,
    word & 0xff,
  ]);
}
