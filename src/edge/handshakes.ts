import { readCertificateChain } from '../crypto/x509.ts';
import {
  type TlsCertificate,
  type TlsFacts,
  type TlsProfile,
  tlsVersionNumber,
} from '../engine/connection.ts';
import type { PersistentMap } from '../caches/persistent_map.ts';
import { weakMemoize } from '../caches/weak_memoize.ts';
import type { EdgeConfig, HttpsEdgeConfig, TlsEdgeConfig } from './document/schema.ts';
import { identityHost } from '../auth/saml/addresses.ts';
import type { AdoptedHosts } from './begin_exchange.ts';
import { type PoolTable, hostBehind } from './hosts.ts';
import { isLoopback } from '../net/private_hosts.ts';
import type { CompileRequest } from './compile_cache.ts';
import { areUsable } from '../filters/client_authorities.ts';
import { ACTION_FACTS } from '../filters/table.ts';
import { unconditionalActionsIn } from '../policy/document/action_types.ts';

export interface HandshakeTable {
  /** The TLS settings for a server name (lower case, empty for none) at a port; null without an edge. */
  readonly find: (name: string, port: number) => TlsProfile | null;
  /** The certificate of the file that is valid for a name; null without one. */
  readonly certificateFor: (name: string) => TlsCertificate | null;
  /** The handshake with an HTTPS edge of a client that states its facts; null without such an edge. */
  readonly stated: (facts: TlsFacts, name: string, port: number) => StatedHandshake | null;
  /** Ports of all edges with TLS. */
  readonly ports: readonly number[];
}

/** The result of a handshake. */
interface StatedHandshake {
  readonly profile: TlsProfile;
  /** Why it fails. */
  readonly problem: string | undefined;
  /** The facts after it. */
  readonly tls: TlsFacts;
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

/** A profile by the name of its edge. */
export interface NamedProfile {
  readonly name: string;
  readonly profile: TlsProfile;
}

/** The part of a key before the host, in the table of profiles. */
export const atPort = (port: number): string => `${port} `;

/** The edges with TLS. */
interface TlsEdges {
  readonly profiles: PoolTable<NamedProfile>;
  /** Ports with the number of their addresses. */
  readonly ports: PersistentMap<number>;
  /** The profile of the only HTTPS edge, if there is one. */
  readonly sole: TlsProfile | null;
  readonly hasHttps: boolean;
  /** Whether the service's own host has addresses of routes. */
  readonly hasIdentityHost: boolean;
}

/** The TLS settings of all edges. */
export function handshakeTable(
  config: EdgeConfig,
  adoptHosts: AdoptedHosts,
  { profiles, ports, sole, hasHttps, hasIdentityHost }: TlsEdges,
): HandshakeTable {
  const adopted = (name: string): TlsProfile | null => {
    const isAdopted =
      adoptHosts === 'any' || (adoptHosts === 'loopback' && (name === '' || isLoopback(name)));
    if (sole !== null && (isAdopted || name === '')) return sole;
    return name === '' && hasHttps ? UNNAMED : null;
  };
  const identity = hasIdentityHost ? identityHost(config.service_name) : null;
  const find: HandshakeTable['find'] = (name, port) => {
    // Identity providers and browsers use this host over https, whichever edge the route belongs to.
    if (name === identity && port === HTTPS_PORT) return UNNAMED;
    const behind = adoptHosts === 'none' ? null : hostBehind(name);
    const found =
      profiles.find(name, atPort(port)) ?? (behind === null ? null : profiles.find(behind, atPort(port)));
    return found?.at(-1)!.profile ?? (port === HTTPS_PORT ? adopted(name) : null);
  };
  return {
    find,
    stated: lastHandshake(find),
    certificateFor: certificatesOf(config.tls_certificates),
    get ports() {
      const all = new Set(Array.from(ports.keys(), Number));
      if (hasIdentityHost) all.add(HTTPS_PORT);
      return [...all].sort((one, other) => one - other);
    },
  };
}

/** Requests of a simulation often share the facts of one handshake: the last one is kept. */
function lastHandshake(find: HandshakeTable['find']): HandshakeTable['stated'] {
  let last: { readonly facts: TlsFacts; readonly name: string; readonly port: number } | null = null;
  let made: StatedHandshake | null = null;
  return (facts, name, port) => {
    if (last !== null && last.facts === facts && last.name === name && last.port === port) return made;
    last = { facts, name, port };
    const profile = find(name, port) ?? find(name, HTTPS_PORT);
    return (made = profile?.kind === 'https' ? handshakeWith(profile, facts) : null);
  };
}

function handshakeWith(profile: TlsProfile, facts: TlsFacts): StatedHandshake {
  const clientCertificate = profile.authorities === null ? null : facts.clientCertificate;
  const problem = oldVersion(facts.version, profile);
  return { profile, problem, tls: { ...facts, edge: profile.edge, clientCertificate } };
}

/** Why a client with this version of TLS cannot connect; undefined if it can. */
export function oldVersion(version: string, { minVersion }: TlsProfile): string | undefined {
  return tlsVersionNumber(version) < Number(minVersion)
    ? `the client speaks ${version}, the edge ${minVersion} or newer`
    : undefined;
}

/** The profile of an HTTPS edge. */
export function httpsProfile(
  edge: string,
  { tls_termination: termination, mutual_tls: mutual }: HttpsEdgeConfig,
  authorityPem: AuthorityPem,
): TlsProfile {
  return {
    edge,
    kind: 'https',
    terminates: true,
    minVersion: termination?.enabled === true ? termination.min_version : '1.2',
    authorities: authoritiesOf(authorityPem, mutual),
  };
}

/** The profile of a TLS edge. */
export function tlsProfile(
  edge: string,
  { tls_termination: termination, mutual_tls: mutual, traffic_policy: policy }: TlsEdgeConfig,
  authorityPem: AuthorityPem,
): TlsProfile {
  const isOn = termination?.enabled !== false;
  const terminates = isOn && (termination?.terminate_at ?? 'edge') === 'edge';
  const minVersion = isOn ? (termination?.min_version ?? '1.2') : '1.2';
  const authorities = terminates
    ? (authoritiesOf(authorityPem, mutual) ?? authoritiesIn(policy, authorityPem))
    : null;
  return { edge, kind: 'tls', terminates, minVersion, authorities };
}

type AuthorityPem = CompileRequest['authorityPem'];

function authoritiesOf(
  authorityPem: AuthorityPem,
  mutual: { readonly enabled: boolean; readonly certificate_authority_ids: readonly string[] } | undefined,
): TlsProfile['authorities'] {
  if (mutual === undefined || !mutual.enabled) return null;
  return mutual.certificate_authority_ids.map((name) => ({ name, pem: authorityPem(name) }));
}

/**
 * The authorities of an action that runs for each connection. Where it has a condition, only `mutual_tls` requests
 * certificates: the handshake precedes the policy.
 */
function authoritiesIn(
  policy: TlsEdgeConfig['traffic_policy'],
  authorityPem: AuthorityPem,
): TlsProfile['authorities'] {
  if (policy?.enabled !== true) return null;
  for (const { type, config } of unconditionalActionsIn(policy.value, 'on_tcp_connect')) {
    const written = typeof config === 'object' && config !== null ? config : {};
    const authorities = ACTION_FACTS.get(String(type))?.clientAuthorities?.(written, authorityPem);
    if (authorities && areUsable(authorities)) return authorities;
  }
  return null;
}

/** Certificates by the host names in them; a wildcard stands for one label (RFC 9525 §6.3). */
const certificatesOf = weakMemoize((certificates: EdgeConfig['tls_certificates']) => {
  const byName = new Map<string, TlsCertificate>();
  for (const each of Object.values(certificates)) {
    const { certificate_pem: certificatePem, private_key_pem: privateKeyPem } = each;
    if (certificatePem === undefined || privateKeyPem === undefined) continue;
    for (const name of namesIn(each))
      if (!byName.has(name)) byName.set(name, { certificatePem, privateKeyPem });
  }
  return (name: string): TlsCertificate | null =>
    byName.get(name) ?? byName.get(name.replace(/^[^.]+/, '*')) ?? null;
});

/** The names of a certificate, in lower case; they are read once, whatever other certificates come and go. */
const namesIn = weakMemoize(({ certificate_pem: pem }: EdgeConfig['tls_certificates'][string]): string[] => {
  const facts = readCertificateChain(pem!);
  if ('problem' in facts) return [];
  const names = facts.dnsNames.length > 0 || facts.ips.length > 0 ? facts.dnsNames : [facts.subject.CN];
  return names.map((name) => name.toLowerCase());
});
