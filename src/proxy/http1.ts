import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { hasField } from '../http/fields.ts';
import { upgradeOf } from '../http/forwarding.ts';
import { type Bound, listenOn, type ListenOptions, type ListenProblem } from './bind.ts';
import type { Hands } from './drive.ts';
import { readFraming } from './framing.ts';
import { closeGently, createConnection, plainFacts } from './http1_connection.ts';
import { onClientError, type ParseError } from './http1_refusal.ts';
import { admit, admitHandover, type Service } from './http1_serve.ts';
import { LISTENER_LIMITS, type ListenerLimits } from './limits.ts';
import type { ConnectionFacts, Plane } from './port.ts';

export interface Http1Listener {
  /** Binds the port, or the next free one unless `strictPort`. */
  listen(options: ListenOptions): Promise<Bound | ListenProblem>;
  /**
   * Drains: accepts nothing more, closes what is idle, lets exchanges finish for `deadlineMs`, then cuts. Settles
   * when every exchange is complete, with the number of connections that were cut.
   */
  close(deadlineMs: number): Promise<{ readonly cut: number }>;
  /**
   * Takes a connection that something else has accepted, such as the TLS front: `facts` say what is known of it.
   * It is drained and cut with all others.
   */
  handle(socket: Socket, facts: ConnectionFacts): void;
  /** Open connections. */
  readonly connections: number;
}

/** HTTP/1.1 on Node's own stack. Never throws and never ends the process for what a client does. */
export function createHttp1Listener(
  plane: Plane,
  hands: Omit<Hands, 'tunnelIdleMs'>,
  given: Partial<ListenerLimits> = {},
): Http1Listener {
  const limits = { ...LISTENER_LIMITS, ...given };
  const service: Service = {
    plane,
    hands: { ...hands, tunnelIdleMs: limits.tunnelIdleMs },
    limits,
    connections: new Map(),
    underWay: new Set(),
    draining: false,
  };
  const server = createServer({
    insecureHTTPParser: false,
    requireHostHeader: false, // it would answer without an event
    maxHeaderSize: limits.headBytes,
    headersTimeout: limits.requestMs === 0 ? limits.headMs : Math.min(limits.headMs, limits.requestMs),
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: Math.max(20, Math.min(5_000, Math.floor(limits.headMs / 4))),
    shouldUpgradeCallback: (message) => mayUpgrade(service, message),
  });
  const handed = new WeakMap<Socket, ConnectionFacts>();
  server.maxHeadersCount = 0; // a limit would drop fields without a word; the head's bytes are limited
  server.on('error', () => undefined); // accepting may fail for want of descriptors, and must not end the process
  server.on('connection', (socket: Socket) => accept(service, socket, handed.get(socket) ?? plainFacts(socket)));
  server.on('request', (message, response) => admit(service, message, response, 'none'));
  server.on('checkContinue', (message, response) => admit(service, message, response, 'continue'));
  server.on('checkExpectation', (message, response) => admit(service, message, response, 'unknown'));
  server.on('upgrade', (message, stream, sent) => admitHandover(service, message, stream as Socket, sent));
  server.on('connect', (message, stream, sent) => admitHandover(service, message, stream as Socket, sent));
  server.on('clientError', (error: ParseError, stream) => onClientError(service, error, stream as Socket));

  return {
    listen: (options) => listenOn(server, options),
    close: (deadlineMs) =>
      drain(service, deadlineMs, new Promise((resolve) => void server.close(() => resolve()))),
    handle: (socket, facts) => {
      handed.set(socket, facts);
      server.emit('connection', socket);
    },
    get connections() {
      return service.connections.size;
    },
  };
}

function accept(service: Service, socket: Socket, facts: ConnectionFacts): void {
  socket.setMaxListeners(0); // each pipelined request has its own
  const rested = (): void => {
    if (service.draining) closeGently(socket, service.limits.lingerMs);
  };
  service.connections.set(socket, createConnection(socket, facts, rested));
  socket.once('close', () => service.connections.delete(socket));
}

/** Whether a request that asks for another protocol may have it; otherwise it is served as any other. */
function mayUpgrade(service: Service, message: IncomingMessage): boolean {
  const connection = service.connections.get(message.socket);
  if (connection === undefined || !connection.turns.idle || service.draining) return false;
  const framing = readFraming(message.httpVersion, message.rawHeaders);
  const protocol = upgradeOf(message.rawHeaders);
  return (
    message.method === 'GET' &&
    message.httpVersion === '1.1' &&
    !hasField(message.rawHeaders, 'expect') &&
    'lengthBytes' in framing &&
    framing.lengthBytes === 0 &&
    protocol !== null &&
    // Another HTTP is not asked of the upstream, and TLS is not to be had inside (RFC 9110 §7.8 lets us decline).
    !/^(?:h2c|http|tls)\b|,/.test(protocol)
  );
}

async function drain(service: Service, deadlineMs: number, closed: Promise<void>): Promise<{ cut: number }> {
  service.draining = true;
  for (const connection of service.connections.values()) {
    // A head that is on its way may still be completed.
    const { socket } = connection;
    if (connection.turns.idle && socket.bytesRead === connection.restedBytes) socket.destroy();
  }
  let cut = 0;
  const timer = setTimeout(() => {
    cut = service.connections.size;
    for (const socket of service.connections.keys()) socket.destroy();
  }, deadlineMs);
  await closed;
  for (const socket of service.connections.keys()) await once(socket, 'close');
  clearTimeout(timer);
  await Promise.all(service.underWay);
  return { cut };
}
