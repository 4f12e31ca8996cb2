import { newSigningIdentity } from '../../../src/crypto/issue_certificate.ts';
import { networkClients } from '../../../src/clients/network.ts';
import { type Edge, type EdgeOptions, createEdge } from '../../../src/edgeproof.ts';
import type { HttpRequestCompleteEvent } from '../../../src/events/catalogue.ts';

/** An edge with one route, `https://app.test/`; its upstream is an address on loopback. */
export function appConfig(route: object, address = '127.0.0.1:9'): object {
  const routes = [{ match: '/', match_type: 'path_prefix', ...route, backend: { backend_id: 'web' } }];
  return {
    edges: { https: { app: { hostports: ['app.test:443'], routes } } },
    backends: { web: { static: { address } } },
  };
}

/** The same behind a SAML gate. */
export function gateConfig(metadata: string, config: object = {}, address?: string): object {
  return appConfig({ saml: { idp_metadata: metadata, ...config } }, address);
}

export interface Gate {
  readonly edge: Edge;
  /** What the upstream saw. */
  readonly seen: Request[];
  readonly events: HttpRequestCompleteEvent[];
  /** The codes of the gate in the order of requests. */
  readonly codes: string[];
  /** The same with their details. */
  readonly explained: { readonly code: string; readonly detail: object }[];
}

/** The key pair of all gates of tests: it takes longer to make than a whole login. */
const KEY = newSigningIdentity('gate', Date.parse('2026-01-01T00:00:00Z'));

/** The same without a network: requests go through `handle`, the upstream is a function. */
export function gateOf(metadata: string, config: object = {}, options: EdgeOptions = {}): Gate {
  const seen: Request[] = [];
  const events: HttpRequestCompleteEvent[] = [];
  const codes: string[] = [];
  const explained: Gate['explained'] = [];
  const edge = createEdge(gateConfig(metadata, config), {
    clients: networkClients(),
    upstream: (request) => {
      seen.push(request);
      return new Response('the app');
    },
    onEvent: (event, explain) => {
      events.push(event);
      const step = explain().steps.find(({ module, phase }) => module === 'saml' && phase === 'request');
      codes.push(step?.code ?? 'none');
      if (step !== undefined) explained.push(step);
    },
    login: { samlKeys: () => KEY },
    ...options,
  });
  return { edge, seen, events, codes, explained };
}
