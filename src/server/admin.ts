import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { type Bound, type ListenProblem, listenOn } from './bind.ts';
import { type Family, openMetrics } from './admin_metrics.ts';

/** What the admin listener serves. */
export interface AdminSource {
  /** Whether the instance accepts new requests: false while it drains. */
  readonly isReady: () => boolean;
  readonly families: () => Promise<readonly Family[]> | readonly Family[];
}

export interface Admin {
  readonly bound: Bound;
  readonly close: () => Promise<void>;
}

const OPEN_METRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8';
const PLAIN = 'text/plain; charset=utf-8';

/** Serves `/healthz`, `/readyz` and `/metrics` on a separate port that clients of the edge cannot reach. */
export async function listenForAdmin(
  source: AdminSource,
  options: { readonly host: string; readonly port: number },
): Promise<Admin | ListenProblem> {
  const server = createServer((request, response) => void answer(request, response, source));
  const bound = await listenOn(server, { ...options, strictPort: true });
  if ('problem' in bound) return { problem: `admin port: ${bound.problem}` };
  return {
    bound,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  source: AdminSource,
): Promise<void> {
  const send = (status: number, text: string, type = PLAIN): void => {
    response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
    response.end(request.method === 'HEAD' ? '' : text);
  };
  request.resume();
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    send(405, 'only GET and HEAD are supported\n');
    return;
  }
  switch ((request.url ?? '').split('?')[0] ?? '') {
    case '/healthz':
      send(200, 'ok\n');
      break;
    case '/readyz':
      if (source.isReady()) send(200, 'ready\n');
      else send(503, 'draining\n');
      break;
    case '/metrics':
      try {
        send(200, openMetrics(await source.families()), OPEN_METRICS);
      } catch {
        send(500, 'the metrics could not be collected\n');
      }
      break;
    default:
      send(404, 'not found; try /healthz, /readyz or /metrics\n');
  }
}
