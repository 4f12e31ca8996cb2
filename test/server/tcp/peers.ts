import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';
import { type Edge, type EdgeOptions, createEdge } from '../../../src/edgeproof.ts';
import type { StreamExplanation } from '../../../src/edge/explain.ts';
import type { TcpConnectionClosedEvent } from '../../../src/events/catalogue.ts';
import type { ListenOptions, Listening } from '../../../src/listening.ts';

/** A backend on a free port. */
export interface Backend {
  readonly address: string;
  readonly port: number;
  readonly server: Server;
  readonly close: () => Promise<void>;
}

export async function backend(serve: (socket: Socket) => void): Promise<Backend> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    serve(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    port,
    server,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Echoes everything, including the end. */
export const echo = (socket: Socket): void => void socket.pipe(socket);

/** An edge that listens, and the events of its connections. */
export interface LiveEdge {
  readonly edge: Edge;
  readonly listening: Listening;
  readonly portOf: (hostport: string) => number;
  /** The next event, in order; an earlier one that was not returned yet is returned at once. */
  readonly nextEvent: () => Promise<TcpConnectionClosedEvent['object']>;
  readonly explained: StreamExplanation[];
  readonly events: TcpConnectionClosedEvent[];
  readonly close: () => Promise<{ readonly cut: number }>;
}

export async function liveEdge(
  config: object,
  listenOptions: ListenOptions = {},
  options: EdgeOptions = {},
): Promise<LiveEdge> {
  const events: TcpConnectionClosedEvent[] = [];
  const explained: StreamExplanation[] = [];
  let taken = 0;
  let wake: (() => void) | null = null;
  const edge = createEdge(config, {
    ...options,
    onConnection: (event, explain) => {
      events.push(event);
      explained.push(explain());
      wake?.();
    },
  });
  const ports = Object.fromEntries(
    Object.values(edge.config.edges.tcp).flatMap(({ hostports }) => hostports.map((each) => [each, 0])),
  );
  const listening = await edge.listen({ tcp: { ports }, ...listenOptions });
  return {
    edge,
    listening,
    events,
    explained,
    portOf: (hostport) =>
      listening.ports().find(({ host, port }) => `${host}:${port}` === hostport)!.listensOn,
    nextEvent: async () => {
      while (events.length <= taken) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return events[taken++]!.object;
    },
    close: () => listening.close(0),
  };
}

/** A client connected to a port. */
export async function dial(port: number, localAddress?: string): Promise<Socket> {
  const socket = connect({
    port,
    host: '127.0.0.1',
    allowHalfOpen: true,
    ...(localAddress !== undefined && { localAddress }),
  });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** All that a socket receives until its end; if the socket breaks, what arrived before. */
export async function received(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  if (!socket.readableEnded && !socket.closed) {
    await Promise.race([
      new Promise((resolve) => socket.once('end', resolve)),
      new Promise((resolve) => socket.once('close', resolve)),
    ]);
  }
  return Buffer.concat(chunks);
}
