import type { TLSSocket } from 'node:tls';
import { clientCertificateOf, trustOf } from '../crypto/client_certificate.ts';
import type { TlsFacts } from '../engine/contract.ts';
import type { TlsProfile } from '../engine/connection.ts';

/** Facts of a completed handshake; the client certificate is only included if it was verified. */
export function tlsFactsOf(socket: TLSSocket, { edge, authorities }: TlsProfile): TlsFacts {
  const cipher = socket.getCipher();
  const certificate = authorities === null ? undefined : socket.getPeerX509Certificate();
  return {
    version: socket.getProtocol() ?? '',
    cipherSuite: cipher.standardName ?? cipher.name,
    negotiatedAlpn: typeof socket.alpnProtocol === 'string' ? socket.alpnProtocol : '',
    edge,
    ...(authorities !== null && { trusted: trustOf(authorities.map(({ pem }) => pem)) }),
    clientCertificate:
      certificate === undefined || !socket.authorized ? null : clientCertificateOf(certificate.raw),
  };
}

/** Facts of a TLS connection that is passed through. */
export function passedTlsFacts({ edge }: TlsProfile): TlsFacts {
  return { version: '', cipherSuite: '', edge, clientCertificate: null };
}
