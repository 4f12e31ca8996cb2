import { secretText } from '../../crypto/random.ts';
import {
  type EndpointPlace,
  URL_NUMBERS,
  placeUrl,
  readEndpointUrl,
} from '../../edge/document/endpoint_urls.ts';
import { parseAuthority } from '../../http/host.ts';
import { Members, type Refusal } from './members.ts';

/** The domain of hosts that agents do not choose themselves; browsers resolve it to this machine (RFC 6761 §6.3). */
const OWN_DOMAIN = 'localhost';
const ASSIGNED_CHARACTERS = 12;
/** The port of HTTP endpoints, which are also served without TLS, and of TLS endpoints that name none. */
export const HTTPS_PORT = 443;

interface Place {
  readonly host: string;
  /** Null for a TCP endpoint whose port is to be chosen. */
  readonly port: number | null;
}

type Proto = EndpointPlace['scheme'];

/** Where an agent wants its endpoint. Newer agents name a URL, the others a domain or an address. */
export function placeOf(proto: Proto, opts: Members): Place | Refusal {
  const url = opts.text('URL');
  if (url !== '') return urlPlace(proto, url);
  return proto === 'tcp'
    ? tcpPlace(opts.text('Addr'))
    : { host: canonicalHost(hostOf(opts)), port: HTTPS_PORT };
}

/**
 * A host as requests find it, in lower case and without a trailing dot: else an agent could bind a host that is taken
 * by writing it in another way. What is not a host is left as it is, and refused with the configuration.
 */
function canonicalHost(text: string): string {
  const wildcard = text.startsWith('*.') ? '*.' : '';
  const authority = parseAuthority(text.slice(wildcard.length));
  return authority === null || authority.port !== undefined ? text : wildcard + authority.host;
}

/** The URL may have no scheme, and may leave the rest to the edge: `https://`. */
function urlPlace(proto: Proto, url: string): Place | Refusal {
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `${proto}://${url}`;
  if (/^[^:]+:\/\/\/?$/.test(whole)) return placeOf(proto, new Members({}));
  const read = readEndpointUrl(whole);
  if ('number' in read) return read;
  const { scheme, host, port } = read;
  if (scheme !== proto)
    return {
      number: URL_NUMBERS.scheme,
      message: `The protocol is ${proto}, that of '${url}' is ${scheme}.`,
    };
  return { host, port: scheme === 'http' ? HTTPS_PORT : port };
}

function hostOf(opts: Members): string {
  const given = opts.text('Domain') || opts.text('Hostname');
  if (given !== '') return given;
  const subdomain = opts.text('Subdomain') || secretText(ASSIGNED_CHARACTERS);
  return `${subdomain}.${OWN_DOMAIN}`;
}

function tcpPlace(address: string): Place | Refusal {
  if (address === '') return { host: `tcp.${OWN_DOMAIN}`, port: null };
  const colon = address.lastIndexOf(':');
  const port = Number(address.slice(colon + 1));
  if (colon <= 0 || !Number.isInteger(port) || port < 1 || port > 65_535)
    return { number: 300, message: `The address '${address.slice(0, 80)}' is not a host and a port.` };
  return { host: canonicalHost(address.slice(0, colon)), port };
}

/** The options of the request with what was chosen: agents bind again with exactly the options of the response. */
export function placedOptions(proto: Proto, opts: Members, host: string, port: number): object {
  const chosen = proto === 'tcp' ? { Addr: `${host}:${port}` } : { Domain: host, Hostname: host };
  const place = { scheme: proto, host, port: proto === 'http' ? 80 : port };
  return { ...opts.value, ...chosen, ...(opts.text('URL') !== '' && { URL: placeUrl(place) }) };
}

/** The options without those that say where the endpoint is. */
export function unplacedOptions({ value }: Members): object {
  const {
    URL: _url,
    Domain: _domain,
    Hostname: _hostname,
    Subdomain: _subdomain,
    Addr: _addr,
    ...rest
  } = value;
  return rest;
}
