import { weakMemoize } from '../../caches/weak_memoize.ts';
import { trustOf } from '../../crypto/client_certificate.ts';
import type { ClientCertificate } from '../../engine/connection.ts';
import type { Connection, Pass, Stop, World } from '../../engine/contract.ts';
import type { Linked, Module } from '../../engine/module.ts';
import type { MutualTlsConfig } from './module_schema.ts';
import { reasons } from './facts.ts';

type Code = keyof typeof reasons;

/**
 * Lets nobody pass without a certificate of one of the authorities. On a real connection the handshake has refused
 * all others before; here it is decided again, because requests for this edge may come on a connection that was
 * made for another one, because certificates expire while connections live, and because simulated connections
 * have no handshake.
 */
export const mutualTls: Module<MutualTlsConfig, Code> = {
  type: 'mutual_tls',
  reasons,
  compile: (config, linked) => {
    const authorities = new Set(config.certificate_authority_ids);
    const trusted = trustOf(config.certificate_authority_ids.map((id) => linked.authorityPem?.(id) ?? ''));
    const passFor = weakMemoize((certificate: ClientCertificate) => verified(certificate, linked));
    const decide = (connection: Connection, world: World): Pass<Code> | Stop<Code> => {
      const code = problemOf(connection, { ids: authorities, trusted, edge: linked.edge }, world.nowMs());
      const certificate = connection.tls?.clientCertificate ?? null;
      if (code !== null || certificate === null) {
        return stop(code ?? 'mutual_tls.no_certificate', certificate, linked);
      }
      return passFor(certificate);
    };
    return {
      onConnection: (connection, _state, world) => decide(connection, world),
      onRequest: (_request, connection, _state, world) => decide(connection, world),
    };
  },
};

function problemOf(
  { tls }: Connection,
  own: { readonly ids: ReadonlySet<string>; readonly trusted: string; readonly edge: string | undefined },
  nowMs: number,
): Exclude<Code, 'mutual_tls.verified'> | null {
  if (tls === null) return 'mutual_tls.no_tls';
  if (tls.edge !== undefined && tls.edge !== own.edge) return 'mutual_tls.misdirected';
  const { clientCertificate: certificate } = tls;
  if (certificate === null) return 'mutual_tls.no_certificate';
  const { authority, details } = certificate;
  if (authority !== undefined && !own.ids.has(authority)) return 'mutual_tls.untrusted';
  // The edge may trust others than it did when the handshake was made.
  if (tls.trusted !== undefined && tls.trusted !== own.trusted) return 'mutual_tls.untrusted';
  const isValid = details === undefined || (details.notBeforeMs <= nowMs && nowMs <= details.notAfterMs);
  return isValid ? null : 'mutual_tls.not_valid_now';
}

/** Only a wrong name is told in HTTP (RFC 9110 §15.5.20) and a request without TLS; else there is no response. */
function stop(code: Code, certificate: ClientCertificate | null, { refusal }: Linked): Stop<Code> {
  const detail = certificate === null ? {} : { subject: certificate.subjectCn };
  const reason = { code, detail };
  if (code === 'mutual_tls.misdirected') {
    const response = refusal(421, null, 'This connection was made for another host');
    return { verdict: 'stop', reason, response };
  }
  const response = refusal(403, null, 'This endpoint asks for a client certificate, which needs TLS');
  return { verdict: 'stop', reason, response, close: code !== 'mutual_tls.no_tls' };
}

function verified(certificate: ClientCertificate, { branding }: Linked): Pass<Code> {
  const { serialNumber, subjectCn, details } = certificate;
  const prefix = branding.identity.mtls;
  const facts = [
    ['subject-cn', [subjectCn]],
    ['subject-alt-name-dns', details?.san.dnsNames ?? []],
    ['email-addresses', details?.san.emailAddresses ?? []],
    ['serial-number', [serialNumber]],
  ] as const;
  const add = facts.flatMap(([name, values]) => {
    const value = values.map(fieldText).join(',');
    return value === '' ? [] : [`${prefix}${name}`, value];
  });
  return {
    verdict: 'pass',
    reason: {
      code: 'mutual_tls.verified',
      detail: { subject: subjectCn, serial_number: serialNumber },
    },
    edits: [{ edit: 'headers', on: 'request', remove: [], add }],
  };
}

/** What a field value cannot hold, the comma that joins values and blanks at an end are percent-encoded in UTF-8. */
function fieldText(text: string): string {
  return text.replaceAll(/[^\u0021-\u0024\u0026-\u002b\u002d-\u007e ]|^ | $/gu, (character) =>
    Array.from(new TextEncoder().encode(character), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join(
      '',
    ),
  );
}
