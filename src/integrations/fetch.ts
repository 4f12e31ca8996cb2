import { networkClients } from '../clients/network.ts';
import { type ClientFacts, connectionOf, headOf } from '../engine/request_like.ts';
import type { Wiring } from '../engine/drivers/engine_exchange_port.ts';
import { runScripted } from '../engine/drivers/scripted.ts';

/** An application with the fetch API, such as Hono. */
export interface FetchApp {
  readonly fetch: (request: Request, ...rest: never[]) => Response | Promise<Response>;
}

/** Takes one request of the fetch API through an edge and into an application that answers with the same API. */
export async function fetchThrough(
  wiring: Wiring,
  app: FetchApp,
  request: Request,
  from: ClientFacts,
  nowMs: number,
): Promise<Response> {
  const head = headOf({ method: request.method, url: request.url, headers: request.headers });
  const plain = 'refused' in head ? head.head : head;
  const connection = connectionOf(from, plain.scheme, nowMs);
  const exchange =
    'refused' in head
      ? wiring.refuse(connection, head.head, { code: head.refused, detail: { problem: head.message } })
      : wiring.begin(connection, head);
  const body = new Uint8Array(await request.arrayBuffer());
  const upstream = (asked: Request): Promise<Response> => answerOf(app, asked, plain.scheme);
  const response = await runScripted(exchange, body, upstream, networkClients());
  wiring.finished(exchange);
  return response;
}

/** The application sees the host that the client requested, not the address of the backend. */
async function answerOf(app: FetchApp, asked: Request, scheme: string): Promise<Response> {
  const { pathname, search, host } = new URL(asked.url);
  const url = `${scheme}://${asked.headers.get('host') ?? host}${pathname}${search}`;
  return app.fetch(new Request(url, asked));
}
