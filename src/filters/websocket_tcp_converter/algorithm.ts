import { digest } from '../../crypto/digest.ts';
import { type FieldList, exactListMembers, firstValue } from '../../http/fields.ts';
import type { RequestHead } from '../../http/heads.ts';
import { maySwitch, upgradeOf } from '../../http/forwarding.ts';

/** Result of a WebSocket handshake with the edge as the server. */
export type Handshake =
  | { readonly accepted: FieldList }
  | { readonly refused: 'no_upgrade' | 'bad_key' | 'other_version' };

/** RFC 6455 §1.3. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const VERSION = '13';
/** 16 bytes in base64 (RFC 6455 §4.2.1). */
const KEY = /^[A-Za-z0-9+/]{21}[AQgw]==$/;
/** Conventional subprotocol of programs that tunnel bytes in WebSockets. */
const BINARY = 'binary';

/** Handles a WebSocket handshake (RFC 6455 §4.2.1); returns the fields of the 101 response. */
export function webSocketHandshake({
  method,
  version,
  headers,
}: Pick<RequestHead, 'method' | 'version' | 'headers'>): Handshake {
  if (!maySwitch(method, version, headers) || upgradeOf(headers) !== 'websocket')
    return { refused: 'no_upgrade' };
  if (firstValue(headers, 'sec-websocket-version')?.trim() !== VERSION) return { refused: 'other_version' };
  const key = firstValue(headers, 'sec-websocket-key')?.trim() ?? '';
  if (!KEY.test(key)) return { refused: 'bad_key' };
  const accepted = ['sec-websocket-accept', digest('sha1', [key, GUID], 'base64')];
  // Subprotocol names are case-sensitive (RFC 6455 §4.1, §11.5).
  const protocols = exactListMembers(headers, 'sec-websocket-protocol');
  // Browsers close the connection if they offer subprotocols and none is chosen.
  const chosen = protocols.includes(BINARY) ? BINARY : protocols[0];
  if (chosen !== undefined) accepted.push('sec-websocket-protocol', chosen);
  return { accepted };
}
