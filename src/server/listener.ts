import { type Server, type Socket, createServer } from 'node:net';
import { contain, failed } from '../io/containment.ts';
import { DenseList, type Slotted } from '../io/dense_list.ts';
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

interface Served extends Slotted {
  readonly socket: Socket;
  /** Resolves when nothing is left to do for the connection. */
  done: Promise<void>;
}

/** Accepts connections and serves each; `serve` must not reject, and resolves when nothing is left to do. */
export function socketListener(serve: (socket: Socket) => Promise<void>): SocketListener {
  const open = new DenseList<Served>();
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
    const served: Served = { slot: -1, socket, done: Promise.resolve() };
    open.add(served);
    served.done = serve(socket)
      .catch((fault: unknown) => failed(socket, fault))
      .finally(() => open.remove(served));
  });
  return {
    listen: (options) => listenOn(server, options),
    stop: () => void server.close(),
    served: async () => {
      while (open.size > 0) await Promise.all([...open].map(({ done }) => done));
    },
    cut: () => {
      for (const { socket } of open) socket.destroy();
      return open.size;
    },
  };
}
