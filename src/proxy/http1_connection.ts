import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Http1Body } from './http1_body.ts';
import type { ConnectionFacts } from './port.ts';
import { createTurns, type Turns } from './turns.ts';

/** One client connection and what is under way on it. */
export interface ClientConnection {
  readonly socket: Socket;
  readonly facts: ConnectionFacts;
  readonly turns: Turns;
  /** The request whose head was read last. */
  latest: { readonly message: IncomingMessage; readonly body: Http1Body } | null;
  /** The parser has given up: whatever still comes is not looked at. */
  broken: boolean;
  /** No further request is taken; the reply under way says so. */
  closing: boolean;
  /** `socket.bytesRead` when the last exchange was done: more means that a head is on its way. */
  restedBytes: number;
}

/** Begins to keep account of a connection; `rested` is called whenever nothing is under way on it any more. */
export function createConnection(
  socket: Socket,
  facts: ConnectionFacts,
  rested: (connection: ClientConnection) => void,
): ClientConnection {
  const connection: ClientConnection = {
    socket,
    facts,
    turns: createTurns(() => {
      connection.restedBytes = socket.bytesRead;
      rested(connection);
    }),
    latest: null,
    broken: false,
    closing: false,
    restedBytes: 0,
  };
  return connection;
}

/** What is known of a connection without TLS. */
export function plainFacts(socket: Socket): ConnectionFacts {
  return {
    clientAddress: socket.remoteAddress ?? '',
    clientPort: socket.remotePort ?? 0,
    serverAddress: socket.localAddress ?? '',
    serverPort: socket.localPort ?? 0,
    serverName: '',
    startMs: Date.now(),
    tls: null,
  };
}

/** Ends a connection so that the client can read what was sent before it learns of the end. */
export function closeGently(socket: Socket, lingerMs: number): void {
  if (socket.destroyed) return;
  socket.end();
  // Closing with unread bytes makes the system send a reset, which can overtake the reply.
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
}

/** A connection that Node's parser has let go of, because its request asked for another protocol. */
export interface Handover {
  /** For a reply that stays with HTTP. */
  readonly response: ServerResponse;
  /** Writes the head of 101 and gives the connection, with all that the client has sent meanwhile. */
  takeOver(head: string): Duplex;
}

/** What a client may send ahead of the answer to its upgrade. */
const AHEAD_BYTES = 65_536;

/** Takes a connection from the parser; `sent` is what came behind the request head. */
export function handOver(message: IncomingMessage, socket: Socket, sent: Buffer, lingerMs: number): Handover {
  const ahead: Buffer[] = sent.length > 0 ? [sent] : [];
  let aheadBytes = sent.length;
  const response = new ServerResponse(message);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  const onDrain = (): void => void response.emit('drain');
  const onEnd = (): void => void socket.destroy();
  const onData = (bytes: Buffer): void => {
    ahead.push(bytes);
    aheadBytes += bytes.length;
    if (aheadBytes > AHEAD_BYTES) socket.pause();
  };
  socket.on('error', () => undefined); // 'close' follows
  // Reading on is the only way to learn that the client has left.
  socket.on('drain', onDrain).on('end', onEnd).on('data', onData);
  response.once('finish', () => {
    socket.off('end', onEnd).off('data', onData);
    closeGently(socket, lingerMs);
  });

  return {
    response,
    takeOver(head) {
      socket.off('drain', onDrain).off('end', onEnd).off('data', onData).pause();
      response.detachSocket(socket);
      if (ahead.length > 0) socket.unshift(Buffer.concat(ahead));
      socket.write(head, 'latin1');
      return socket;
    },
  };
}
