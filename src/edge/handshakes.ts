import { readCertificateChain } from '../crypto/x509.ts';
import type { TlsCertificate, TlsProfile } from '../engine/tls_profile.ts';
import type { EdgeConfig } from './document/schema.ts';
import { identityHost } from '../auth/saml/addresses.ts';
import { hostTable, isLoopback } from './hosts.ts';
import type { CompileCache } from './compile_cache.ts';
import { servesIdentityHost } from './saml_host.ts';
import { readHostport } from './compile_filters.ts';

export interface HandshakeTable {
  /** The TLS settings for a server name (lower case, empty for none) at a port; null without an edge. */
  readonly find: (name: string, port: number) => TlsProfile | null;
  /** The certificate of the file that is valid for a name; null without one. */
  readonly certificateFor: (name: string) => TlsCertificate | null;
  /** Ports of all edges with TLS. */
  readonly ports: readonly number[];
}

const HTTPS_PORT = 443;
/**
 * For the service's host, or without a named edge: the usual minimum version, and nothing that an edge could rely on.
 */
const UNNAMED: TlsProfile = {
  edge: '',
  kind: 'https',
  terminates: true,
  minVersion: '1.2',
  authorities: null,
};

/** Reads the TLS settings of each edge. */
export function handshakeTable(
  config: EdgeConfig,
  adoptHosts: 'none' | 'loopback' | 'any',
  kept: CompileCache,
): HandshakeTable {
  const byPort = new Map<number, [host: string, profile: TlsProfile][]>();
  const add = (hostports: readonly string[], profile: TlsProfile): void => {
    for (const { host, port } of hostports.map(readHostport)) {
      const known = byPort.get(port) ?? [];
      known.push([host, profile]);
      byPort.set(port, known);
    }
  };
  const https: TlsProfile[] = [];
  for (const [edge, each] of Object.entries(config.edges.https)) {
    const { tls_termination: termination } = each;
    const minVersion = termination?.enabled === true ? termination.min_version : '1.2';
    const authorities = authoritiesOf(config, each.mutual_tls);
    https.push({ edge, kind: 'https', terminates: true, minVersion, authorities });
    add(each.hostports, https.at(-1)!);
  }
  for (const [edge, each] of Object.entries(config.edges.tls)) {
    const termination = each.tls_termination;
    const isOn = termination?.enabled !== false;
    const terminates = isOn && (termination?.terminate_at ?? 'edge') === 'edge';
    const minVersion = isOn ? (termination?.min_version ?? '1.2') : '1.2';
    const authorities = terminates ? authoritiesOf(config, each.mutual_tls) : null;
    add(each.hostports, { edge, kind: 'tls', terminates, minVersion, authorities });
  }
  // Identity providers and browsers use this host over https, whichever edge the route belongs to.
  if (servesIdentityHost(config)) add([`${identityHost(config.service_name)}:${HTTPS_PORT}`], UNNAMED);
  const tables = new Map([...byPort].map(([port, entries]) => [port, hostTable(entries)]));
  const sole = https.length === 1 ? https[0]! : null;
  const adopted = (name: string): TlsProfile | null => {
    const isAdopted =
      adoptHosts === 'any' || (adoptHosts === 'loopback' && (name === '' || isLoopback(name)));
    if (sole !== null && (isAdopted || name === '')) return sole;
    return name === '' && https.length > 0 ? UNNAMED : null;
  };
  return {
    find: (name, port) => tables.get(port)?.find(name) ?? (port === HTTPS_PORT ? adopted(name) : null),
    certificateFor: kept.shared('certificates', Object.values(config.tls_certificates), () =>
      certificateTable(config),
    ),
    ports: [...byPort.keys()],
  };
}

function authoritiesOf(
  { certificate_authorities: all }: EdgeConfig,
  mutual: { readonly enabled: boolean; readonly certificate_authority_ids: readonly string[] } | undefined,
): TlsProfile['authorities'] {
  if (mutual === undefined || !mutual.enabled) return null;
  return mutual.certificate_authority_ids.map((name) => ({ name, pem: all[name]?.ca_pem ?? '' }));
}

/** Certificates by the host names in them; a wildcard stands for one label (RFC 9525 §6.3). */
function certificateTable({ tls_certificates: certificates }: EdgeConfig): HandshakeTable['certificateFor'] {
  const byName = new Map<string, TlsCertificate>();
  for (const { certificate_pem: certificatePem, private_key_pem: privateKeyPem } of Object.values(
    certificates,
  )) {
    if (certificatePem === undefined || privateKeyPem === undefined) continue;
    const facts = readCertificateChain(certificatePem);
    if ('problem' in facts) continue;
    const names = facts.dnsNames.length > 0 || facts.ips.length > 0 ? facts.dnsNames : [facts.subject.CN];
    for (const name of names) {
      const lower = name.toLowerCase();
      if (!byName.has(lower)) byName.set(lower, { certificatePem, privateKeyPem });
    }
  }
  return (name) => byName.get(name) ?? byName.get(name.replace(/^[^.]+/, '*')) ?? null;
}
