import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
import { Agent, type IncomingMessage, request as requestHttp } from 'node:http';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import * as grpc from '@grpc/grpc-js';
import { WebSocket } from 'ws';
import { after, bytesOf, CHAT, digest } from './swap_upstreams.ts';

/** The ports of an edge, and the authority that its clients trust. */
export interface Target {
  readonly port: number;
  readonly tlsPort: number;
  readonly tcpPort: number;
  readonly ca: string;
}

/** Which configuration decided an exchange, as each end observes it. */
export interface Proof {
  /** From the response, as the edge wrote it; null if it is not observable. */
  readonly revision: string | null;
  /** What the upstream received. */
  readonly seen: string | null;
  readonly upstream: string;
}

/** One exchange of one kind; rejects when a byte is missing or wrong. */
export type Kind = (number: number) => Promise<Proof>;

const HOST = 'swap.test';
const SIZE = 120_000;
const PIECES = 8;
const PAUSE_MS = 4;

function same(got: Uint8Array, wanted: Uint8Array, what: string): void {
  if (Buffer.compare(got, wanted) !== 0)
    throw new Error(`${what}: ${got.length} bytes are not what was sent`);
}

const piecesOf = (bytes: Buffer): Buffer[] => {
  const size = Math.ceil(bytes.length / PIECES);
  return Array.from({ length: PIECES }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
};

const proofOf = (headers: IncomingHttpHeaders | IncomingMessage['headers']): Proof => ({
  revision: String(headers['x-revision']),
  seen: String(headers['x-seen']),
  upstream: String(headers['x-upstream']),
});

/** All kinds of traffic, each with its own connections; `close` closes those that are kept open. */
export function kindsOf({ port, tlsPort, tcpPort, ca }: Target): {
  readonly kinds: Readonly<Record<string, Kind>>;
  readonly close: () => void;
} {
  const agent = new Agent({ keepAlive: true });
  const session: ClientHttp2Session = connectHttp2(`https://${HOST}:${tlsPort}`, {
    createConnection: () =>
      connectTls({ port: tlsPort, host: '127.0.0.1', servername: HOST, ca, ALPNProtocols: ['h2'] }),
  });
  session.on('error', () => undefined);
  const Client = grpc.makeGenericClientConstructor({ chat: CHAT }, 'Swap');
  const chatter = new Client(`127.0.0.1:${tlsPort}`, grpc.credentials.createSsl(Buffer.from(ca)), {
    'grpc.default_authority': HOST,
    'grpc.ssl_target_name_override': HOST,
  });
  const kinds: Record<string, Kind> = {
    download: (number) => http1(agent, port, number, false),
    upload: (number) => http1(agent, port, number, true),
    http2: (number) => stream(session, number),
    grpc: (number) => chat(chatter as unknown as Chatter, number),
    websocket: (number) => webSocket(`ws://127.0.0.1:${port}/`, number, false),
    websocket_tcp: (number) => webSocket(`ws://127.0.0.1:${port}/tcp`, number, true),
    tcp: (number) => raw(() => connect({ port: tcpPort, host: '127.0.0.1', allowHalfOpen: true }), number),
    tls_passed: (number) => raw(() => passedTls(tlsPort, ca), number),
  };
  return {
    kinds,
    close: () => {
      agent.destroy();
      session.destroy();
      chatter.close();
    },
  };
}

/** Node's types have this socket option for plain sockets only. */
const HALF_OPEN = { allowHalfOpen: true } as object;

const passedTls = (port: number, ca: string): Socket =>
  connectTls({ port, host: '127.0.0.1', servername: 'pass.test', ca, ...HALF_OPEN });

function http1(agent: Agent, port: number, number: number, uploads: boolean): Promise<Proof> {
  const bytes = bytesOf(number, SIZE);
  return new Promise((resolve, reject) => {
    const sent = requestHttp({
      agent,
      port,
      host: '127.0.0.1',
      method: uploads ? 'POST' : 'GET',
      path: uploads ? '/up' : `/down/${number}/${SIZE}`,
      headers: { host: HOST },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('error', reject);
      response.on('end', () => {
        try {
          same(Buffer.concat(pieces), uploads ? Buffer.from(digest(bytes)) : bytes, sent.method);
          resolve(proofOf(response.headers));
        } catch (error) {
          reject(error);
        }
      });
    });
    const upload = async (): Promise<void> => {
      for (const piece of piecesOf(bytes)) {
        sent.write(piece);
        await after(PAUSE_MS);
      }
      sent.end();
    };
    if (uploads) void upload();
    else sent.end();
  });
}

/** Alternating downloads and uploads, many at a time on one session. */
async function stream(session: ClientHttp2Session, number: number): Promise<Proof> {
  const uploads = number % 2 === 0;
  const bytes = bytesOf(number, SIZE);
  const sent = session.request({
    ':authority': HOST,
    ':method': uploads ? 'POST' : 'GET',
    ':path': uploads ? '/up' : `/down/${number}/${SIZE}`,
  });
  const response = once(sent, 'response') as Promise<[IncomingHttpHeaders]>;
  const pieces: Buffer[] = [];
  sent.on('data', (piece: Buffer) => pieces.push(piece));
  const ended = once(sent, 'end');
  for (const piece of uploads ? piecesOf(bytes) : []) {
    sent.write(piece);
    await after(PAUSE_MS);
  }
  sent.end();
  const [headers] = await response;
  await ended;
  same(Buffer.concat(pieces), uploads ? Buffer.from(digest(bytes)) : bytes, 'stream');
  return proofOf(headers);
}

interface Chatter {
  chat(): grpc.ClientDuplexStream<Buffer, Buffer>;
}

async function chat(client: Chatter, number: number): Promise<Proof> {
  const call = client.chat();
  const head = once(call, 'metadata') as Promise<[grpc.Metadata]>;
  const status = once(call, 'status') as Promise<[grpc.StatusObject]>;
  const pieces: Buffer[] = [];
  call.on('data', (piece: Buffer) => pieces.push(piece));
  const bytes = bytesOf(number, SIZE);
  for (const piece of piecesOf(bytes)) {
    call.write(piece);
    await after(PAUSE_MS);
  }
  call.end();
  const [[metadata], [{ code, details }]] = await Promise.all([head, status]);
  if (code !== grpc.status.OK) throw new Error(`gRPC ${code} ${details}`);
  same(Buffer.concat(pieces), bytes, 'chat');
  const said = (name: string): string => String(metadata.get(name)[0]);
  return { revision: said('x-revision'), seen: said('x-seen'), upstream: said('x-upstream') };
}

/** `greets`: the TCP backend sends its name first. */
async function webSocket(url: string, number: number, greets: boolean): Promise<Proof> {
  const socket = new WebSocket(url, { headers: { host: HOST } });
  socket.binaryType = 'nodebuffer';
  const upgraded = once(socket, 'upgrade') as Promise<[IncomingMessage]>;
  const bytes = bytesOf(number, SIZE);
  const wanted = SIZE + (greets ? 1 : 0);
  const pieces: Buffer[] = [];
  let count = 0;
  const whole = new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`the WebSocket closed after ${count} bytes`)));
    socket.on('message', (piece: Buffer) => {
      pieces.push(piece);
      count += piece.length;
      if (count >= wanted) resolve();
    });
  });
  await Promise.race([once(socket, 'open'), whole]);
  for (const piece of piecesOf(bytes)) {
    socket.send(piece);
    await after(PAUSE_MS);
  }
  await whole;
  const got = Buffer.concat(pieces);
  same(greets ? got.subarray(1) : got, bytes, 'WebSocket');
  const [{ headers }] = await upgraded;
  const closed = once(socket, 'close');
  socket.close();
  await closed;
  const { revision, seen, upstream } = proofOf(headers);
  return greets
    ? { revision, seen: null, upstream: got.toString('latin1', 0, 1) }
    : { revision, seen, upstream };
}

/** Bytes in both directions on a connection whose backend sends its name first. */
async function raw(open: () => Socket, number: number): Promise<Proof> {
  const socket = open();
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  const ended = once(socket, 'end');
  const bytes = bytesOf(number, SIZE);
  for (const piece of piecesOf(bytes)) {
    socket.write(piece);
    await after(PAUSE_MS);
  }
  socket.end();
  await ended;
  const got = Buffer.concat(pieces);
  same(got.subarray(1), bytes, 'raw bytes');
  return { revision: null, seen: null, upstream: got.toString('latin1', 0, 1) };
}
