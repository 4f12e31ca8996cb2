import { weakMemoize } from '../../caches/weak_memoize.ts';
import type { ClientCertificate } from '../../engine/connection.ts';
import type { Connection, Pass, Stop, World } from '../../engine/contract.ts';
import type { Linked, Module } from '../../engine/module.ts';
import type { MutualTlsConfig } from './module_schema.ts';
import { type RequiredAuthorities, certificateProblem, requiring } from '../client_authorities.ts';
import { reasons } from './facts.ts';

type Code = keyof typeof reasons;

/**
 * Requires a client certificate of one of the authorities. On real connections the handshake enforces this
 * already; it is checked again because a request for this edge may arrive on a connection for another edge,
 * because certificates expire during connections, and because simulated connections have no handshake.
 */
export const mutualTls: Module<MutualTlsConfig, Code> = {
  type: 'mutual_tls',
  reasons,
  compile: (config, linked) => {
    const pemOf = (id: string): string => linked.authorityPem?.(id) ?? '';
    const required = requiring(config.certificate_authority_ids.map((name) => ({ name, pem: pemOf(name) })));
    const own = { ...required, edge: linked.edge };
    const passFor = weakMemoize((certificate: ClientCertificate) => verified(certificate, linked));
    const decide = (connection: Connection, world: World): Pass<Code> | Stop<Code> => {
      const code = problemOf(connection, own, world.nowMs());
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
  own: RequiredAuthorities & { readonly edge: string | undefined },
  nowMs: number,
): Exclude<Code, 'mutual_tls.verified'> | null {
  if (tls === null) return 'mutual_tls.no_tls';
  if (tls.edge !== undefined && tls.edge !== own.edge) return 'mutual_tls.misdirected';
  const problem = certificateProblem(tls, own, nowMs);
  return problem === null ? null : `mutual_tls.${problem}`;
}

/**
 * Only a wrong name (RFC 9110 §15.5.20) and missing TLS get an HTTP response; otherwise the connection is
 * closed.
 */
function stop(code: Code, certificate: ClientCertificate | null, { refusal }: Linked): Stop<Code> {
  const detail = certificate === null ? {} : { subject: certificate.subjectCn };
  const reason = { code, detail };
  if (code === 'mutual_tls.misdirected') {
    const response = refusal(421, null, 'This connection was established for another host');
    return { verdict: 'stop', reason, response };
  }
  const response = refusal(403, null, 'This endpoint requires a client certificate, which needs TLS');
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

/**
 * Percent-encodes as UTF-8 what a field value cannot contain, the comma that joins values, and surrounding
 * spaces.
 */
function fieldText(text: string): string {
  return text.replaceAll(/[^\u0021-\u0024\u0026-\u002b\u002d-\u007e ]|^ | $/gu, (character) =>
    Array.from(new TextEncoder().encode(character), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join(
      '',
    ),
  );
}
