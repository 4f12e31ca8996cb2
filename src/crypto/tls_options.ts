import { constants } from 'node:crypto';

/** Disables renegotiation: a TLS 1.2 session has exactly one handshake (RFC 5746 §4.4). */
export const NO_RENEGOTIATION = constants.SSL_OP_NO_RENEGOTIATION;
