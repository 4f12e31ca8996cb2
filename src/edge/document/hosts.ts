import { domainToASCII } from 'node:url';
import { meantFix, meantWord, removal } from '../../diagnostics/meant.ts';
import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { didYouMean, quoted } from '../../diagnostics/message_text.ts';
import { parseAuthority } from '../../http/host.ts';
import { parseAddress } from '../../net/address.ts';
import type { SoundConfig, Report } from './report.ts';
import { isInternalHost } from './internal_hosts.ts';
import { edgesOf, isTerminating, streamEdgesOf } from './routes_of.ts';

/** The only port of an HTTPS edge, as at the service; the port that a process listens on is independent of it. */
const HTTPS_PORT = 443;

export interface HostProblem {
  readonly message: string;
  /** Valid text that was probably meant. */
  readonly meant?: string | undefined;
  /** Whether `meant` is sure to keep the meaning. */
  readonly safe?: boolean;
}

/** A parsed host and port, or a problem. */
export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** Parses `host:port` strictly, without scheme, path or user; `example` is the port to suggest when it is missing. */
export function readHostAndPort(text: string, example: number): HostAndPort | HostProblem {
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(text);
  if (scheme !== null) {
    const rest = text.slice(scheme[0].length).replace(/[/?#].*$/, '');
    return {
      message: `${quoted(text)} is a URL; write only host and port`,
      meant: acceptable(rest, example),
    };
  }
  if (/[/?#@]/.test(text)) {
    const meant = acceptable(text.replace(/[/?#].*$/, ''), example);
    return { message: `${quoted(text)} has more than a host and a port`, meant };
  }
  const authority = parseAuthority(text);
  if (authority === null) return unreadable(text, example);
  const problem = hostProblem(authority.host);
  if (problem !== null) return { message: problem };
  if (authority.port === undefined) {
    return {
      message: `${quoted(text)} has no port`,
      meant: `${text}:${example}`,
      safe: example === HTTPS_PORT,
    };
  }
  return { host: authority.host, port: authority.port };
}

/** Narrows the result of `readHostAndPort`. */
export function isHostProblem(answer: HostAndPort | HostProblem): answer is HostProblem {
  return 'message' in answer;
}

/** Why a host that parses is not valid; null if it is. */
export function hostProblem(host: string): string | null {
  const bracketed = /^\[(.*)\]$/.exec(host);
  if (bracketed !== null)
    return parseAddress(bracketed[1]!) === null ? `${quoted(host)} is not an IPv6 address` : null;
  // A name that ends in a number must be an IPv4 address (WHATWG URL, "ends in a number").
  const endsInNumber = /(?:^|\.)\d+$/.test(host);
  return endsInNumber && parseAddress(host) === null ? `${quoted(host)} is not an IPv4 address` : null;
}

function unreadable(text: string, example: number): HostProblem {
  // What follows the address of this machine is a port, also where it could be a part of another address.
  const own = /^::1(:\d{2,5})$/.exec(text);
  if (own !== null || parseAddress(text)?.family === 6) {
    return {
      message: `${quoted(text)} needs brackets around its IPv6 address`,
      meant: own === null ? `[${text}]:${example}` : acceptable(`[::1]${own[1]}`, example),
    };
  }
  const port = /:(\d*)$/.exec(text);
  if (port !== null && Number(port[1]) > 65_535) return { message: `port ${port[1]} is above 65535` };
  if (port?.index === 0 && port[1] !== '')
    return { message: `${quoted(text)} has no host`, meant: `localhost${text}` };
  return { message: `${quoted(text)} is not a host name and a port`, meant: asciiOf(text, example) };
}

/** An internationalised name in the ASCII form that DNS and certificates use (RFC 5891 §4). */
function asciiOf(text: string, example: number): string | undefined {
  // oxlint-disable-next-line no-control-regex -- all of ASCII is meant
  if (/^[\u0000-\u007f]*$/.test(text)) return undefined;
  const [, name = '', port = ''] = /^(.*?)(:\d+)?$/s.exec(text) ?? [];
  const ascii = domainToASCII(name);
  return ascii === '' ? undefined : acceptable(ascii + port, example);
}

function acceptable(text: string, example: number): string | undefined {
  const authority = parseAuthority(text);
  if (authority === null || hostProblem(authority.host) !== null) return undefined;
  return authority.port === undefined ? `${text}:${example}` : text;
}

/** Checks the hostports of all edges: their form, and that each host belongs to one edge, or to pooled ones. */
export function checkHostports(
  config: SoundConfig,
  report: Report,
  isPooled: (edge: string) => boolean = () => false,
): void {
  const owners = new Map<string, { readonly at: string; readonly mayShare: boolean }>();
  const edges = [
    ...edgesOf(config).map((edge) => Object.assign(edge, { kind: 'https' as const })),
    ...streamEdgesOf(config),
  ];
  for (const { kind, name, pointer, thing } of edges) {
    for (const [index, hostport] of (thing.hostports ?? []).entries()) {
      if (hostport === undefined) continue;
      const at = pointerTo(`${pointer}/hostports`, index);
      const host = checkHostport(hostport, kind, at, report);
      if (kind === 'tls' && isTerminating(thing)) checkReachable(hostport, at, report);
      const owner = host === null ? undefined : owners.get(host);
      const mayShare = isPooled(name);
      if (host !== null && owner === undefined) owners.set(host, { at, mayShare });
      if (owner !== undefined && !(owner.mayShare && mayShare)) {
        report('edge.duplicate_hostport', at, `${quoted(hostport)} is in this file twice`, {
          first: owner.at,
          // The host of another edge may have been meant for this one.
          ...(owner.at.startsWith(`${pointer}/`) && {
            hint: 'remove it',
            fix: removal(true),
          }),
        });
      }
    }
  }
}

/** An internal endpoint gets what the client has sent, and no handshake. */
function checkReachable(hostport: string, pointer: string, report: Report): void {
  if (!isInternalHost(hostport.replace(/:\d+$/, '').toLowerCase())) return;
  const message = `${quoted(hostport)} is reached by forward-internal only, so TLS cannot end here`;
  const hint = 'write tls_termination: { terminate_at: upstream }';
  report('edge.internal_termination', pointer, message, { hint });
}

/** Ports to suggest when the port is missing. */
const EXAMPLE_PORTS = { https: HTTPS_PORT, tls: HTTPS_PORT, tcp: 5432 } as const;

/** Host, with its wildcard, and port of a hostport; null for a problem, which is reported. */
function checkHostport(
  hostport: string,
  kind: keyof typeof EXAMPLE_PORTS,
  pointer: string,
  report: Report,
): string | null {
  const wildcard = hostport.startsWith('*.') ? '*.' : '';
  const answer = readHostAndPort(hostport.slice(wildcard.length), EXAMPLE_PORTS[kind]);
  if (isHostProblem(answer)) {
    const meant = answer.meant === undefined ? undefined : wildcard + answer.meant;
    const isWild = meant === undefined && hostport.includes('*');
    report('edge.bad_hostport', pointer, answer.message, {
      hint: isWild ? 'a wildcard stands before a name, as in *.shop.test:443' : didYouMean(meant),
      fix: meantFix(meant, kind === 'https' && answer.safe === true),
    });
    return null;
  }
  if (wildcard !== '' && parseAddress(answer.host.replace(/^\[|\]$/g, '')) !== null) {
    report('edge.bad_hostport', pointer, 'a wildcard covers names, not addresses');
    return null;
  }
  if (wildcard !== '' && kind === 'tcp') {
    report('edge.bad_hostport', pointer, 'a TCP edge is found by its port, so it has no wildcard');
    return null;
  }
  if (answer.port === 0) {
    report('edge.bad_hostport', pointer, 'port 0 cannot be connected to');
    return null;
  }
  if (kind === 'https' && answer.port !== HTTPS_PORT) {
    const message = `an HTTPS edge has port ${HTTPS_PORT}, not ${answer.port}`;
    report('edge.bad_hostport', pointer, message, {
      ...meantWord(`${wildcard}${answer.host}:${HTTPS_PORT}`),
      notes: ['this is the port in public URLs; set the port to listen on with a command line option'],
    });
  }
  return `${wildcard}${answer.host}:${answer.port}`;
}

/** Whether one of the hostports of an edge covers a host; a wildcard covers names of any depth. */
export function covers(hostports: readonly (string | undefined)[], host: string): boolean {
  return hostports.some((hostport) => {
    if (hostport === undefined) return true;
    const wildcard = hostport.startsWith('*.');
    const answer = readHostAndPort(wildcard ? hostport.slice(2) : hostport, HTTPS_PORT);
    if (isHostProblem(answer)) return true;
    return wildcard ? host.endsWith(`.${answer.host}`) : host === answer.host;
  });
}
