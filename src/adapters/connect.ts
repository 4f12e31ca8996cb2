import { networkHands } from '../answers/hands.ts';
import type { Forwarded, UpstreamClient } from '../answers/port.ts';
import { drive } from '../proxy/drive.ts';
import type { Hands } from '../proxy/hands.ts';
import { type Wiring, enginePlane } from '../proxy/plane.ts';
import type { Plane } from '../proxy/port.ts';
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

/** Takes one request through an edge; `next` is the application behind it. Settles when the exchange is complete. */
export type Through = (request: NodeRequest, response: NodeResponse, next: () => void) => Promise<void>;

/**
 * The live driver with the application as its upstream: a request that the edge stops never reaches it, one that it
 * lets pass is edited in place, and what the application answers goes through the response phase.
 */
export function throughEdge(wiring: Wiring, nowMs: () => number): Through {
  const plane: Plane = enginePlane(wiring);
  const { fetch, oidc } = networkHands();
  return (request, response, next) => {
    const startMs = nowMs();
    const body = bodyOfRequest(request);
    const real = realResponse(response);
    // What a framework has set already is part of its own answer, not of the edge's.
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
    const hands: Hands = { upstream: app, fetch, oidc, tunnelIdleMs: 0 };
    return new Promise((done) => drive({ raw, body, reply, upgradable: false }, plane, hands, done));
  };
}

/** What an application throws is its own affair, as it is without an edge; the request ends all the same. */
function calling(next: () => void, answered: Promise<Forwarded>): Promise<Forwarded> {
  try {
    next();
    return answered;
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
    return Promise.resolve({ failure: 'reset', detail: 'the application has thrown' });
  }
}
