import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { type Bound, type ListenProblem, listenOn } from './bind.ts';
import { type Family, openMetrics } from './admin_metrics.ts';

/** What the admin listener serves. */
export interface AdminSource {
  /** Whether the instance accepts new requests: false while it drains. */
  readonly isReady: () => boolean;
  readonly families: () => Promise<readonly Family[]> | readonly Family[];
}

/** Whether what the instance serves is recent enough, in words. */
export interface Standing {
  readonly isFit: boolean;
  readonly line: string;
}

/** What a front end adds. */
export interface AdminAdditions {
  /** Whether what is served is recent enough, for `/readyz`. */
  readonly standing?: () => Standing;
  /** Further metrics. */
  readonly families?: () => readonly Family[];
}

interface WholeSource extends AdminSource {
  readonly standing: (() => Standing) | null;
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
  options: { readonly host: string; readonly port: number } & AdminAdditions,
): Promise<Admin | ListenProblem> {
  const { standing = null, families = () => [] } = options;
  const whole: WholeSource = {
    ...source,
    families: async () => [...(await source.families()), ...families()],
    standing,
  };
  const server = createServer((request, response) => void answer(request, response, whole));
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

function readiness({ isReady, standing }: WholeSource): [status: number, text: string] {
  if (!isReady()) return [503, 'draining\n'];
  if (standing === null) return [200, 'ready\n'];
  const { isFit, line } = standing();
  return isFit ? [200, `ready\n${line}\n`] : [503, `not ready\n${line}\n`];
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  source: WholeSource,
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
      send(...readiness(source));
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
