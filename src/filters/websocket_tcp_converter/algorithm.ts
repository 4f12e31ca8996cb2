import { digest } from '../../crypto/digest.ts';
import { type FieldList, exactListMembers, firstValue } from '../../http/fields.ts';
import { upgradeOf } from '../../http/forwarding.ts';

/** What a request to open a WebSocket comes to, where the edge itself is the server. */
export type Handshake =
  | { readonly accepted: FieldList }
  | { readonly refused: 'no_upgrade' | 'bad_key' | 'other_version' };

/** RFC 6455 §1.3. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const VERSION = '13';
/** 16 bytes in base64. */
const KEY = /^[A-Za-z0-9+/]{21}[AQgw]==$/;
/** What programs that carry bytes in WebSockets have agreed upon among themselves. */
const BINARY = 'binary';

/** Reads a request to open a WebSocket (RFC 6455 §4.2.1), and gives the fields of the 101 that accepts it. */
export function webSocketHandshake(method: string, headers: FieldList): Handshake {
  if (method !== 'GET' || upgradeOf(headers) !== 'websocket') return { refused: 'no_upgrade' };
  if (firstValue(headers, 'sec-websocket-version')?.trim() !== VERSION) return { refused: 'other_version' };
  const key = firstValue(headers, 'sec-websocket-key')?.trim() ?? '';
  if (!KEY.test(key)) return { refused: 'bad_key' };
  const accepted = ['sec-websocket-accept', digest('sha1', [key, GUID], 'base64')];
  // Names of subprotocols are compared exactly (RFC 6455 §4.1, §11.5).
  const protocols = exactListMembers(headers, 'sec-websocket-protocol');
  // A browser that offers some and is given none breaks off.
  const chosen = protocols.includes(BINARY) ? BINARY : protocols[0];
  if (chosen !== undefined) accepted.push('sec-websocket-protocol', chosen);
  return { accepted };
}
