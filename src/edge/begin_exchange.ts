import type { Connection, Reason, RequestHead, World } from '../engine/contract.ts';
import { Exchange, type HttpConfiguration } from '../engine/exchange.ts';
import type { EngineReason } from '../engine/refusals.ts';
import type { HttpsEdge } from './compile_https.ts';
import { isInternalHost } from './document/internal_hosts.ts';
import { type PoolTable, hostBehind, memberOf } from './hosts.ts';
import { isLoopback } from '../net/private_hosts.ts';
import { reservedFor } from './login_config.ts';
import type { SamlHost } from './saml_host.ts';

/**
 * Which unknown hosts an edge takes, for local development: `shop.test.localhost` as `shop.test` (`aliases`), also names and addresses
 * of this machine as the only edge (`loopback`), or every host as the only edge (`any`).
 */
export type AdoptedHosts = 'none' | 'aliases' | 'loopback' | 'any';

/** What the route of a request is found with. */
export interface HttpRouting extends HttpConfiguration {
  /** The HTTPS edge of a configuration with only one. */
  readonly sole: HttpsEdge | null;
  /** Several edges share a host only if they are pooled endpoints. */
  readonly hosts: PoolTable<HttpsEdge>;
  /** Addresses of SAML routes on the service's own host. */
  readonly samlHost: SamlHost;
  readonly adoptHosts: AdoptedHosts;
}

const MATCHED: Reason<EngineReason> = { code: 'route.matched', detail: {} };

/** Begins the exchange of a request: finds its edge and route, or the reason why there is none. */
export function beginExchange(
  compiled: HttpRouting,
  connection: Connection,
  given: RequestHead,
  world: World,
): Exchange {
  const head = compiled.adoptHosts === 'none' ? given : withHostBehind(compiled, given);
  const ofService = compiled.samlHost.find(head.host, head.path);
  if (ofService !== null) return new Exchange(compiled, connection, head, world, ofService, MATCHED);
  const pool = compiled.hosts.find(head.host);
  const edge = pool === null ? adopted(compiled, head.host) : memberOf(pool, world);
  const fromOutside = connection.hops === undefined;
  if (edge === null || (fromOutside && isInternalHost(head.host)))
    return refuseExchange(compiled, connection, head, world, noRoute('route.unknown_host', head));
  const reserved = edge.reserved.length === 0 ? null : reservedFor(edge.reserved, head.host, head.path);
  const found = reserved ?? edge.router.find(head.host, head.path);
  if (reserved === null && edge.router.isAmbiguous(head, found)) {
    return refuseExchange(compiled, connection, head, world, noRoute('route.ambiguous_path', head));
  }
  if (found === null)
    return refuseExchange(compiled, connection, head, world, noRoute('route.no_match', head));
  return new Exchange(compiled, connection, head, world, found, MATCHED);
}

function noRoute(code: EngineReason, { host, path }: RequestHead): Reason<EngineReason> {
  return { code, detail: { host, path } };
}

/** A request for `shop.test.localhost` as one for `shop.test`; its authority stays, so that redirects come back here. */
function withHostBehind({ hosts }: HttpRouting, head: RequestHead): RequestHead {
  const behind = hostBehind(head.host);
  const isAlias = behind !== null && hosts.find(head.host) === null && hosts.find(behind) !== null;
  return isAlias ? { ...head, host: behind } : head;
}

/** The edge for an unknown host, where local development allows that. */
function adopted({ sole, adoptHosts }: HttpRouting, host: string): HttpsEdge | null {
  return adoptHosts === 'any' || (adoptHosts === 'loopback' && isLoopback(host)) ? sole : null;
}

/** The exchange of a request that is refused before routing. */
export function refuseExchange(
  compiled: HttpRouting,
  connection: Connection,
  head: RequestHead,
  world: World,
  reason: Reason<EngineReason>,
): Exchange {
  return new Exchange(compiled, connection, head, world, null, reason);
}
