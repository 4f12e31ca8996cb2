import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { sendReply } from '../answers/reply.ts';
import { drive, type Hands } from './drive.ts';
import { type FramingRefusal, readFraming } from './framing.ts';
import { createBody } from './http1_body.ts';
import { type ClientConnection, handOver } from './http1_connection.ts';
import { Http1Sink } from './http1_sink.ts';
import type { ListenerLimits } from './limits.ts';
import type { ConnectionFacts, Plane, RawHead } from './port.ts';

/** What all connections of one listener share. */
export interface Service {
  readonly plane: Plane;
  readonly hands: Hands;
  readonly limits: ListenerLimits;
  readonly connections: Map<Socket, ClientConnection>;
  /** Exchanges that are not complete. */
  readonly underWay: Set<Promise<void>>;
  draining: boolean;
}

/** How a request came: what Node's parser made of its `Expect`. */
export type Expectation = 'none' | 'continue' | 'unknown';

/** Takes a request whose head has just been read; it is served when those before it on its connection are done. */
export function admit(
  service: Service,
  message: IncomingMessage,
  response: ServerResponse,
  expectation: Expectation,
): void {
  const { limits, plane } = service;
  const { socket } = message;
  const connection = service.connections.get(socket);
  if (connection === undefined || connection.closing) return;
  const framing = readFraming(message.httpVersion, message.rawHeaders);
  const refused = refusalFor(framing, expectation);
  // What comes behind a request that cannot be trusted, or is one too many, is not taken.
  if (refused !== null || connection.turns.waiting >= limits.pipelined) connection.closing = true;
  const body = createBody(
    message,
    'lengthBytes' in framing ? framing.lengthBytes : 0,
    limits.bodyIdleMs,
    () => {
      if (expectation === 'continue' && !response.headersSent) response.writeContinue();
    },
  );
  connection.latest = { message, body };
  const reply = new Http1Sink(response, {
    method: message.method ?? '',
    socket,
    writeIdleMs: limits.writeIdleMs,
    last: () => isLast(service, connection) || body.fault !== null,
    takeOver: null,
  });
  const raw = { head: headOf(message, connection.facts), connection: connection.facts, startMs: Date.now() };
  takeTurn(service, connection, async () => {
    if (refused === null) {
      await drive({ raw, body, reply, upgradable: false }, plane, service.hands);
    } else {
      const page = plane.refuse({ ...refused, connection: connection.facts, head: raw.head });
      await sendReply(page, { sink: reply, request: body, forwarded: null, tunnelIdleMs: 0 });
    }
    body.discard(limits.lingerMs, () => socket.destroy());
  });
}

/** Takes a request behind which the connection is not HTTP any more, or CONNECT, which no edge serves. */
export function admitHandover(
  service: Service,
  message: IncomingMessage,
  socket: Socket,
  sent: Buffer,
): void {
  const { limits } = service;
  const connection = service.connections.get(socket);
  if (connection === undefined || connection.closing) {
    socket.destroy();
    return;
  }
  connection.closing = true;
  const upgradable = message.method !== 'CONNECT';
  const raw = { head: headOf(message, connection.facts), connection: connection.facts, startMs: Date.now() };
  takeTurn(service, connection, async () => {
    const handover = handOver(message, socket, sent, limits.lingerMs);
    const body = createBody(message, 0, limits.bodyIdleMs, () => undefined);
    const reply = new Http1Sink(handover.response, {
      method: message.method ?? '',
      socket,
      writeIdleMs: limits.writeIdleMs,
      last: () => true,
      takeOver: upgradable ? (head) => handover.takeOver(head) : null,
    });
    await drive({ raw, body, reply, upgradable }, service.plane, service.hands);
  });
}

/** Queues a job of a connection; a job that fails is a bug, and its connection is cut. */
export function takeTurn(service: Service, connection: ClientConnection, job: () => Promise<void>): void {
  connection.turns.add(() => {
    const done = job().catch(() => void connection.socket.destroy());
    service.underWay.add(done);
    return done.finally(() => service.underWay.delete(done));
  });
}

/** Whether the reply that is about to begin is the last on its connection. */
function isLast(service: Service, connection: ClientConnection): boolean {
  if (connection.turns.waiting > 0) return false;
  if (!service.draining && !connection.closing && !connection.broken) return false;
  connection.closing = true;
  return true;
}

function refusalFor(
  framing: ReturnType<typeof readFraming>,
  expectation: Expectation,
): FramingRefusal | null {
  if (!('lengthBytes' in framing)) return framing;
  if (expectation !== 'unknown') return null;
  return { status: 417, code: 'expectation', detail: 'this expectation is not known' }; // RFC 9110 §10.1.1
}

function headOf(message: IncomingMessage, { tls }: ConnectionFacts): RawHead {
  return {
    method: message.method ?? '',
    target: message.url ?? '',
    version: message.httpVersion === '1.0' ? '1.0' : '1.1',
    scheme: tls === null ? 'http' : 'https',
    headers: message.rawHeaders,
  };
}
