import { placeUrl } from '../edge/document/endpoint_urls.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { ExtensionChange } from '../edge/extension.ts';
import type { BoundEndpoint } from './binding/endpoint_table.ts';

/** The edge that endpoints are added to. */
export interface AgentsEdge {
  /** The configuration of the operator, without the endpoints of agents. */
  readonly base: () => EdgeConfig;
  /** Names of the cloud endpoints that share their hosts. */
  readonly pooled: () => ReadonlySet<string>;
  /** Adds and removes endpoints of agents. */
  readonly extend: (change: ExtensionChange) => void;
  /** Ports that edges want and that could not be opened. */
  readonly missingPorts: () => Promise<
    readonly { readonly host: string; readonly port: number; readonly problem: string }[]
  >;
  /** The URL at which clients on this machine reach an endpoint. */
  readonly urlOf: (endpoint: Pick<BoundEndpoint, 'proto' | 'host' | 'port'>) => string;
}

/** The URL of an endpoint at a port of this machine. */
export function endpointUrl({ proto, host }: Pick<BoundEndpoint, 'proto' | 'host'>, port: number): string {
  return placeUrl({ scheme: proto, host, port });
}
