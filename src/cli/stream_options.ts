import { modulesOf } from '../coverage/placed_routes.ts';
import { InvalidArgumentError, type Command } from 'commander';
import { isInternalHost } from '../edge/document/internal_hosts.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { isLoopback } from '../net/private_hosts.ts';
import { servesIdentityHost } from '../edge/saml_host.ts';
import type { ListenOptions, Listening } from '../edgeproof.ts';
import { parseAddress } from '../net/address.ts';
import { identityHost } from '../auth/saml/addresses.ts';
import { dataFolder, localCertificates } from './local_authority.ts';
import { errorText } from '../diagnostics/message_text.ts';
import { readPort } from './option_values.ts';
import { isWorker } from './workers.ts';

/** Options of verbs that listen for TLS and TCP in addition to plain HTTP. */
export interface StreamVerbOptions {
  /** False for `--no-tls`. */
  readonly tls: boolean;
  readonly tlsPort?: number;
  readonly edgePort: Readonly<Record<string, number>>;
  readonly acceptProxyProtocol?: boolean;
  readonly adminPort?: number;
  readonly adminHost: string;
  /** Agents listen for TLS, so that their endpoints have https URLs. */
  readonly agents?: number | true;
}

/** Ports that edges may open if someone other than the operator writes the configuration: those that need no privilege. */
export const isUnprivileged = (port: number): boolean => port >= 1024;

/** Added to ports of edges that need a privilege, so that 993 listens on 10993. */
const RAISED_BY = 10_000;

/** The port of this machine for one of an edge in development, where processes have no privileges. */
export function portHere(port: number): number {
  return isUnprivileged(port) ? port : port + RAISED_BY;
}

/** Parses `5000-5999,6432`. */
export function readPorts(text: string): (port: number) => boolean {
  const ranges = text.split(',').map((part) => {
    const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part.trim());
    const from = Number(match?.[1]);
    const to = Number(match?.[2] ?? match?.[1]);
    if (match === null || from < 1 || to > 65_535 || from > to)
      throw new InvalidArgumentError("write ports as '5432' or '5000-5999', separated by commas.");
    return { from, to };
  });
  return (port) => ranges.some(({ from, to }) => port >= from && port <= to);
}

const TLS_PORT = 8443;
const HTTPS_PORT = 443;

/** Adds the options. */
export function streamOptions(command: Command): Command {
  return command
    .option(
      '--tls-port <port>',
      `port for HTTPS and TLS edges; ${TLS_PORT} by default if the edge file uses TLS`,
      readPort,
    )
    .option('--admin-port <port>', 'port for /healthz, /readyz and /metrics; default: none', readPort)
    .option('--admin-host <address>', 'address of that port, for load balancers and probes', LOOPBACK)
    .option('--no-tls', 'do not listen for TLS')
    .option(
      '--edge-port <place=port>',
      'listen on another port for a port of TLS edges (6432=16432) or a hostport of TCP edges (1.tcp.test:5432=15432); can be repeated',
      addEdgePort,
      {},
    )
    .option(
      '--accept-proxy-protocol',
      'expect a PROXY protocol header on every connection to TLS and TCP ports',
    );
}

/** Whether the edge file uses TLS, so that a TLS port is opened by default; SAML addresses are https only. */
export function usesTls(config: EdgeConfig): boolean {
  const { edges, tls_certificates: certificates } = config;
  return (
    servesIdentityHost(config) ||
    Object.keys(certificates).length > 0 ||
    Object.keys(edges.tls).length > 0 ||
    modulesOf(config).some(({ facts, kind }) => facts.place === 'edge' && kind === 'https')
  );
}

/** The listeners to open. */
export function streamListening(
  options: StreamVerbOptions,
  say: (text: string) => void,
): Pick<ListenOptions, 'tls' | 'tcp' | 'say' | 'admin'> {
  const proxyProtocol = options.acceptProxyProtocol === true;
  const isAsked = options.tlsPort !== undefined || options.agents !== undefined;
  const certificates = localCertificates(dataFolder(process.env, process.platform));
  const certificateFor = (host: string) =>
    certificates(host).catch((error: unknown) => {
      say(errorText(error));
      return null;
    });
  const tls = {
    port: options.tlsPort ?? TLS_PORT,
    ports: options.edgePort,
    when: (config: EdgeConfig) => isAsked || usesTls(config),
    certificateFor,
    proxyProtocol,
  };
  const { adminPort, adminHost: host } = options;
  // With several processes, the first one serves the counts of all.
  const admin = adminPort === undefined || isWorker ? {} : { admin: { host, port: adminPort } };
  return { ...(options.tls && { tls }), ...admin, tcp: { ports: options.edgePort, proxyProtocol }, say };
}

/** The admin port has no login, so that it is on this machine unless it is opened. */
const LOOPBACK = '127.0.0.1';

/** A name of this machine for a host: browsers take names below `localhost` for it. Addresses stay. */
export function nameHere(host: string): string {
  if (isLoopback(host) || parseAddress(host.replace(/^\[|\]$/g, '')) !== null) return host;
  return `${host.replace('*.', 'any.')}.localhost`;
}

/** Lines about TLS and TCP to print at the start; `nameOf` is how a host is reached. */
export function aboutStreams(
  config: EdgeConfig,
  listening: Listening,
  nameOf: (host: string) => string = (host) => host,
): string[] {
  const ports = listening.ports();
  const listensOn = (kind: 'tls' | 'tcp', host: string, port: number) =>
    ports.find((each) => each.kind === kind && each.host === host && each.port === port)?.listensOn;
  const lines: string[] = [];
  const arrow = (name: string, to: string) => lines.push(`➜  ${name.padEnd(24)} ${to}`);
  const { tlsPort } = listening;
  for (const hostport of reachable(config.edges.https)) {
    const host = hostport.replace(`:${HTTPS_PORT}`, '');
    if (tlsPort !== null) arrow(hostport, `https://${nameOf(host)}:${tlsPort}/`);
  }
  if (tlsPort !== null && servesIdentityHost(config)) {
    const host = identityHost(config.service_name);
    arrow(`${host}:${HTTPS_PORT}`, `https://${host}:${tlsPort}/saml/…`);
  }
  for (const [kind, edges] of [
    ['tls', config.edges.tls],
    ['tcp', config.edges.tcp],
  ] as const) {
    for (const hostport of reachable(edges)) {
      const colon = hostport.lastIndexOf(':');
      const port = Number(hostport.slice(colon + 1));
      const local = listensOn(kind, kind === 'tcp' ? hostport.slice(0, colon) : '', port);
      if (local !== undefined) arrow(hostport, `${kind}://${listening.host}:${local}`);
    }
  }
  const { adminPort } = listening;
  if (adminPort !== null) lines.push(`metrics and health: http://${LOOPBACK}:${adminPort}/metrics`);
  if (tlsPort !== null && Object.keys(config.tls_certificates).length === 0) {
    lines.push(
      'certificates are issued by the local authority; `edgeproof trust` makes this machine trust it',
    );
  }
  return lines;
}

/** The addresses that clients can reach. */
function reachable(edges: Readonly<Record<string, { readonly hostports: readonly string[] }>>): string[] {
  return Object.values(edges)
    .flatMap(({ hostports }) => hostports)
    .filter((hostport) => !isInternalHost(hostport.replace(/:\d+$/, '')));
}

function addEdgePort(text: string, before: Readonly<Record<string, number>>): Record<string, number> {
  const equals = text.lastIndexOf('=');
  if (equals <= 0) throw new InvalidArgumentError("write '5432=15432' or 'host:5432=15432'.");
  return { ...before, [text.slice(0, equals)]: readPort(text.slice(equals + 1)) };
}
