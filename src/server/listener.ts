import { type Server, type Socket, createServer } from 'node:net';
import { contain, failed } from '../io/containment.ts';
import { KEEP_ALIVE_MS } from '../io/tcp_dial.ts';
import { type Bound, type ListenOptions, type ListenProblem, listenOn } from './bind.ts';

/** A port whose connections are served one by one. */
export interface SocketListener {
  readonly listen: (options: ListenOptions) => Promise<Bound | ListenProblem>;
  /** Accepts nothing more; accepted connections continue. */
  readonly stop: () => void;
  /** Resolves when every connection has been served. */
  readonly served: () => Promise<void>;
  /** Destroys the sockets that are still open, and returns their number. */
  readonly cut: () => number;
}

/** Accepts connections and serves each; `serve` must not reject, and resolves when nothing is left to do. */
export function socketListener(serve: (socket: Socket) => Promise<void>): SocketListener {
  const open = new Map<Socket, Promise<void>>();
  const server: Server = createServer({
    allowHalfOpen: true,
    pauseOnConnect: true,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_MS,
  });
  server.on('error', () => undefined); // accepting may fail when file descriptors run out, and must not end the process
  server.on('connection', (socket) => {
    contain(socket).on('error', () => undefined);
    const served = serve(socket)
      .catch((fault: unknown) => failed(socket, fault))
      .finally(() => void open.delete(socket));
    open.set(socket, served);
  });
  return {
    listen: (options) => listenOn(server, options),
    stop: () => void server.close(),
    served: async () => {
      while (open.size > 0) await Promise.all(open.values());
    },
    cut: () => {
      for (const socket of open.keys()) socket.destroy();
      return open.size;
    },
  };
}
