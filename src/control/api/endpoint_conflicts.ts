import type { EndpointPlace } from '../../edge/document/endpoint_urls.ts';
import type { ResourceObject } from '../resources/contract.ts';
import { FAMILY_OF_SCHEME } from '../resources/edge_values.ts';
import { ENDPOINT_NUMBERS, placeOfEndpoint } from '../resources/endpoints.ts';
import { ApiProblem, COMMON } from '../resources/problem.ts';
import type { Online } from './contract.ts';
import type { EdgeObjects, Touched } from './edge_objects.ts';

/** An endpoint, or an edge, at an address. */
interface Occupant {
  readonly id: string;
  readonly kind: 'cloud' | 'agent' | 'edge';
  /** Empty for an edge. */
  readonly scheme: string;
  readonly address: string;
  readonly isPooled: boolean;
}

const EDGES = ['https_edge', 'tls_edge', 'tcp_edge'];
const HTTPS_PORT = 443;

/**
 * Refuses written endpoints whose address belongs to another endpoint or to an edge, unless all are pooled, and edges
 * at the address of an endpoint; throws the documented errors.
 */
export function refuseConflicts(touched: readonly Touched[], objects: EdgeObjects, online: Online): void {
  const written = touched.flatMap(({ object, isGone }) => (isGone ? [] : [object]));
  if (!written.some(({ kind }) => kind === 'endpoint' || kind.endsWith('_edge'))) return;
  const endpoints = Array.from(objects.ofKind('endpoint'), cloudEndpoint);
  for (const object of written) {
    if (object.kind === 'endpoint') {
      const edges = EDGES.flatMap((kind) => [...objects.ofKind(kind)].flatMap(edgeAddresses));
      const own = cloudEndpoint(object);
      const others = [...endpoints, ...agentEndpoints(online), ...edges];
      const other = others.find(
        ({ id, address, ...rest }) => id !== own.id && address === own.address && !mayShare(own, rest),
      );
      if (other !== undefined) throw refusal(own, other);
      continue;
    }
    for (const [index, { address }] of edgeAddresses(object).entries()) {
      const other = endpoints.find((each) => each.address === address);
      if (other === undefined) continue;
      const hostport = address.slice(address.indexOf(' ') + 1);
      const message = `The hostport '${hostport}' belongs to the endpoint ${other.id}.`;
      throw new ApiProblem(409, COMMON.hostportTaken, message, { hostport, pointer: `/hostports/${index}` });
    }
  }
}

/** Endpoints of one scheme may share an address. Those of TLS must agree on the handshake, so agents' are apart. */
function mayShare(own: Occupant, { scheme, isPooled, kind }: Pick<Occupant, 'scheme' | 'isPooled' | 'kind'>) {
  return own.isPooled && isPooled && own.scheme === scheme && (scheme !== 'tls' || kind === 'cloud');
}

function refusal(own: Occupant, { id, kind, isPooled }: Occupant): ApiProblem {
  if (kind === 'cloud' && !own.isPooled && !isPooled) {
    const message = `The endpoint ${id} has this URL already.`;
    return new ApiProblem(400, ENDPOINT_NUMBERS.sameUrl, message, { pointer: '/url', used_by: id });
  }
  const pointer = '/pooling_enabled';
  if (!own.isPooled) {
    const message = `The ${kind} ${id} has this address, and the endpoint is not pooled.`;
    return new ApiProblem(400, ENDPOINT_NUMBERS.notPooled, message, { pointer, used_by: id });
  }
  const message = `The ${kind} ${id} has this address, and does not share it with such an endpoint.`;
  return new ApiProblem(400, ENDPOINT_NUMBERS.poolClosed, message, { pointer, used_by: id });
}

function cloudEndpoint({ id, body }: ResourceObject): Occupant {
  const place = placeOfEndpoint(body);
  const isPooled = body['pooling_enabled'] === true;
  return { id, kind: 'cloud', scheme: place.scheme, address: addressOf(place), isPooled };
}

function agentEndpoints(online: Online): Occupant[] {
  return online.list('endpoint', '').map(({ id, ...shown }) => {
    const place = { scheme: shown['scheme'], host: shown['host'], port: shown['port'] } as EndpointPlace;
    const isPooled = shown['pooling_enabled'] === true;
    return { id, kind: 'agent', scheme: place.scheme, address: addressOf(place), isPooled };
  });
}

function edgeAddresses({ id, kind, body }: ResourceObject): Occupant[] {
  if (!kind.endsWith('_edge')) return [];
  const hostports = (body['hostports'] ?? []) as readonly string[];
  return hostports.map((hostport) => ({
    id,
    kind: 'edge',
    scheme: '',
    address: `${kind === 'tcp_edge' ? 'tcp' : 'name'} ${hostport}`,
    isPooled: false,
  }));
}

/** HTTP, HTTPS and TLS endpoints are found by their name, those of HTTP at one port; TCP endpoints by their port. */
function addressOf({ scheme, host, port }: EndpointPlace): string {
  const family = FAMILY_OF_SCHEME[scheme];
  return `${family === 'tcp' ? 'tcp' : 'name'} ${host}:${family === 'https' ? HTTPS_PORT : port}`;
}
