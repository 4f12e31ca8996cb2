import { constants } from 'node:crypto';

/** A TLS session of 1.2 has one handshake: its client cannot ask for another one (RFC 5746 §4.4). */
export const NO_RENEGOTIATION = constants.SSL_OP_NO_RENEGOTIATION;
