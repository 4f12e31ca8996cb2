import { networkClients } from '../clients/network.ts';
import type { Forwarded, UpstreamClient } from '../io/ports.ts';
import { drive } from '../engine/drivers/live.ts';
import type { Clients } from '../engine/drivers/clients.ts';
import { type Wiring, engineExchangePort } from '../engine/drivers/engine_exchange_port.ts';
import type { ExchangePort } from '../engine/drivers/exchange_port.ts';
import { catchResponse, editRequest } from './app_side.ts';
import {
  type NodeRequest,
  type NodeResponse,
  bodyOfRequest,
  connectionFactsOf,
  rawHeadOf,
  realResponse,
  sinkOf,
} from './client_side.ts';

/**
 * Takes one request through an edge; `next` is the application behind it. Resolves when the exchange is
 * complete.
 */
export type Through = (request: NodeRequest, response: NodeResponse, next: () => void) => Promise<void>;

/**
 * The live driver with the application as its upstream: a request that the edge stops never reaches the
 * application, a request that passes is edited in place, and the application's response goes through the
 * response phase.
 */
export function throughEdge(wiring: Wiring, nowMs: () => number): Through {
  const exchanges: ExchangePort = engineExchangePort(wiring);
  const { fetch, oidc } = networkClients();
  return (request, response, next) => {
    const startMs = nowMs();
    const body = bodyOfRequest(request);
    const real = realResponse(response);
    // Fields that the framework has already set belong to its own response, not to the edge's.
    const before = { ...response.getHeaders() };
    for (const name of Object.keys(before)) response.removeHeader(name);
    const reply = sinkOf(request, response, real);
    const app: UpstreamClient = {
      forward: (edited, _body, _options, taker) => {
        const gone = new AbortController();
        editRequest(request, edited, body);
        const answer = async (): Promise<void> => {
          const came = await calling(next, catchResponse(response, gone.signal, before));
          if (gone.signal.aborted) return;
          if ('failure' in came) taker.failed(came.failure, came.detail);
          else if ('body' in came) taker.answered(came.head, came.reused, came.body);
        };
        void answer();
        return { cancel: () => gone.abort() };
      },
      close: async () => undefined,
    };
    const raw = { head: rawHeadOf(request), connection: connectionFactsOf(request, startMs), startMs };
    const clients: Clients = { upstream: app, fetch, oidc, tunnelIdleMs: 0 };
    return new Promise((done) => drive({ raw, body, reply, upgradable: false }, exchanges, clients, done));
  };
}

/** Errors that the application throws are handled as without an edge; the exchange still ends. */
function calling(next: () => void, answered: Promise<Forwarded>): Promise<Forwarded> {
  try {
    next();
    return answered;
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
    return Promise.resolve({ failure: 'reset', detail: 'the application threw an error' });
  }
}
