import net, { type Server } from 'node:net';
import { failureText } from '../diagnostics/system_failure.ts';

export interface ListenOptions {
  /** Default: loopback only. */
  readonly host?: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Fail when the port is in use, instead of taking the next free one. */
  readonly strictPort?: boolean;
}

export interface Bound {
  readonly host: string;
  readonly port: number;
}

export interface ListenProblem {
  readonly problem: string;
  /** Whether another process listens there, so that it may become available. */
  readonly isTaken?: boolean;
}

/** Number of ports tried before giving up. */
const PORTS_TRIED = 100;

/** A host as URLs have it (RFC 3986, section 3.2.2). */
function hostOf(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** Binds a server. An unusable address is a value, not an exception. */
export async function listenOn(server: Server, options: ListenOptions): Promise<Bound | ListenProblem> {
  const host = options.host ?? '127.0.0.1';
  const tries = options.strictPort === true || options.port === 0 ? 1 : PORTS_TRIED;
  let problem = '';
  let isTaken = false;
  for (let port = options.port; port < options.port + tries && port <= 65_535; port++) {
    const error = await bind(server, host, port);
    if (error === null) {
      const address = server.address();
      return { host, port: typeof address === 'object' && address !== null ? address.port : port };
    }
    problem = `cannot listen on ${hostOf(host)}:${port}: ${failureText(error)}`;
    isTaken = error.code === 'EADDRINUSE';
    if (!isTaken) break;
  }
  return { problem, isTaken };
}

function bind(server: Server, host: string, port: number): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const onError = (error: NodeJS.ErrnoException): void => {
      server.off('listening', onListening);
      resolve(error);
    };
    const onListening = (): void => {
      server.off('error', onError);
      resolve(null);
    };
    server.once('error', onError).once('listening', onListening);
    try {
      server.listen(placeOf(host, port));
    } catch (error) {
      server.off('listening', onListening).off('error', onError);
      resolve(error as NodeJS.ErrnoException);
    }
  });
}

/** Versions of Node before 26 have no such class. */
const { BoundSocket } = net as Partial<Pick<typeof net, 'BoundSocket'>>;

/**
 * What `listen` gets. Given a host, Node first compiles its pattern of IPv6 addresses, which takes a tenth of the start of
 * `http`, unless the socket is bound already. In a worker of a cluster, the first process listens, so it gets the host.
 */
function placeOf(host: string, port: number): { host: string; port: number } | net.BoundSocket {
  const isOwn = BoundSocket !== undefined && process.channel === undefined;
  return isOwn && net.isIPv4(host) ? new BoundSocket({ host, port }) : { host, port };
}
