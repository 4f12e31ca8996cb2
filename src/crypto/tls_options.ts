import { nodeCrypto } from '../loading/builtins.ts';

/** The option that disables renegotiation: a TLS 1.2 session has exactly one handshake (RFC 5746 §4.4). */
export function noRenegotiation(): number {
  return nodeCrypto().constants.SSL_OP_NO_RENEGOTIATION;
}
