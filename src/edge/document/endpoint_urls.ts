import { isHostProblem, readHostAndPort } from './hosts.ts';

/** The ports of the schemes: HTTP endpoints have no other, TLS endpoints this one if the URL has none. */
const PORTS = { http: 80, https: 443, tls: 443, tcp: null } as const;

/** Where an endpoint is. */
export interface EndpointPlace {
  readonly scheme: keyof typeof PORTS;
  /** May be a wildcard. */
  readonly host: string;
  readonly port: number;
}

/** The service's error numbers for such URLs. */
export const URL_NUMBERS = { url: 18001, port: 18003, scheme: 18022 } as const;

/** What is wrong with the URL of an endpoint, with its number. */
export interface EndpointUrlProblem {
  readonly number: number;
  readonly message: string;
}

const URL_FORM = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(\*\.)?([^/?#]*)(.*)$/is;

/** Reads the URL of a cloud endpoint, or of one that an agent binds. */
export function readEndpointUrl(url: string): EndpointPlace | EndpointUrlProblem {
  const [, given = '', wildcard = '', authority = '', rest = ''] = URL_FORM.exec(url)!;
  const scheme = given.toLowerCase() as EndpointPlace['scheme'];
  if (!Object.hasOwn(PORTS, scheme)) {
    const message = given === '' ? `'${url}' has no scheme` : `The scheme '${given}' is unknown`;
    return problem('scheme', `${message}; the schemes are ${Object.keys(PORTS).join(', ')}.`);
  }
  if (rest !== '' && rest !== '/')
    return problem('url', `'${url}' has more than a scheme, a host and a port.`);
  const usual = PORTS[scheme];
  const hasPort = /:\d*$/.test(authority);
  if (!hasPort && usual === null) return problem('port', `'${url}' needs a port.`);
  const answer = readHostAndPort(hasPort ? authority : `${authority}:${usual}`, usual ?? 0);
  if (isHostProblem(answer)) return problem('url', `The URL is invalid: ${answer.message}.`);
  if (wildcard !== '' && scheme === 'tcp')
    return problem('url', 'A TCP endpoint is found by its port, so its name cannot have a wildcard.');
  const { host, port } = answer;
  if (port === 0 || (scheme.startsWith('http') && port !== usual))
    return problem('port', `The port of an ${scheme} endpoint is ${usual ?? '1 to 65535'}, not ${port}.`);
  return { scheme, host: wildcard + host, port };
}

function problem(wrong: keyof typeof URL_NUMBERS, message: string): EndpointUrlProblem {
  return { number: URL_NUMBERS[wrong], message };
}

/** The URL without a port that the scheme says already. */
export function placeUrl({ scheme, host, port }: EndpointPlace): string {
  return `${scheme}://${host}${port === PORTS[scheme] ? '' : `:${port}`}`;
}
