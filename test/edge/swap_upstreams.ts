import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import * as grpc from '@grpc/grpc-js';
import { WebSocketServer } from 'ws';
import type { Pair } from '../server/tls/authority.ts';

/** Upstreams with one name for every kind of traffic: each reports its name and what the edge sent. */
export interface NamedUpstreams {
  readonly name: string;
  readonly http: string;
  readonly grpc: string;
  readonly tcp: string;
  readonly tls: string;
  /** Open connections of the HTTP/1.1 upstream and of the gRPC one. */
  readonly open: () => number;
  readonly close: () => void;
}

/** Bytes that can be generated again from their number. */
export function bytesOf(seed: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let state = (seed * 2_654_435_761) >>> 0 || 1;
  for (let at = 0; at < length; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}

export const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
export const after = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

const seenBy = (request: IncomingMessage): string => String(request.headers['x-revision'] ?? 'none');

export async function namedUpstreams(name: string, pair: Pair): Promise<NamedUpstreams> {
  const sockets = new Set<Socket>();
  const listening = async (server: Server): Promise<string> => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const http = httpUpstream(name);
  http.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const greet = (socket: Socket): void => {
    socket.on('error', () => undefined);
    socket.write(name);
    socket.pipe(socket);
  };
  const tcp = createServer({ allowHalfOpen: true }, greet);
  const tls = createTlsServer({ cert: pair.cert, key: pair.key, allowHalfOpen: true }, greet);
  const chat = await grpcUpstream(name);
  const addresses = await Promise.all([listening(http), listening(tcp), listening(tls)]);
  return {
    name,
    http: addresses[0],
    grpc: `127.0.0.1:${chat.port}`,
    tcp: addresses[1],
    tls: addresses[2],
    open: () => sockets.size,
    close: () => {
      http.closeAllConnections();
      for (const server of [http, tcp, tls]) server.close();
      chat.server.forceShutdown();
    },
  };
}

/**
 * `GET /down/<seed>/<bytes>` in pieces, `POST` answered with the digest of the received body, and WebSockets that echo.
 */
function httpUpstream(name: string) {
  const server = createHttpServer((request, response) => {
    response.setHeader('x-upstream', name).setHeader('x-seen', seenBy(request));
    const [, , seed, length] = request.url!.split('/');
    if (request.method === 'GET') void writeSlowly(bytesOf(Number(seed), Number(length)));
    else {
      const hash = createHash('sha256');
      request.on('data', (piece: Buffer) => hash.update(piece));
      request.on('end', () => response.end(hash.digest('hex')));
    }
    async function writeSlowly(bytes: Buffer): Promise<void> {
      const size = Math.ceil(bytes.length / 8);
      for (let at = 0; at < bytes.length; at += size) {
        response.write(bytes.subarray(at, at + size));
        await after(4);
      }
      response.end();
    }
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('headers', (headers, request) => {
    headers.push(`x-upstream: ${name}`, `x-seen: ${seenBy(request)}`);
  });
  sockets.on('connection', (socket) => {
    socket.on('message', (message: Buffer, isBinary) => socket.send(message, { binary: isBinary }));
    socket.on('error', () => undefined);
  });
  return server;
}

const asIs = (value: Buffer): Buffer => value;

export const CHAT = {
  path: '/test.Swap/Chat',
  requestStream: true,
  responseStream: true,
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs,
} as const;

async function grpcUpstream(name: string): Promise<{ port: number; server: grpc.Server }> {
  const server = new grpc.Server();
  const chat: grpc.handleBidiStreamingCall<Buffer, Buffer> = (call) => {
    const head = new grpc.Metadata();
    head.set('x-upstream', name);
    head.set('x-seen', String(call.metadata.get('x-revision')[0] ?? 'none'));
    call.sendMetadata(head);
    call.on('data', (message: Buffer) => call.write(message));
    call.on('end', () => call.end());
  };
  server.addService({ chat: CHAT }, { chat });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return { port, server };
}
