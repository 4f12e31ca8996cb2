import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:tls';
import { MuxConnection } from '../../src/tunnel/mux/connection.ts';
import type { MuxStream, StreamTaker } from '../../src/tunnel/mux/stream.ts';
import { StreamDuplex } from '../../src/tunnel/mux/stream_duplex.ts';

/** Kinds of stream, as `src/tunnel/session.ts` has them. */
export const CALL = { auth: 0, bind: 1, unbind: 2, startLabelled: 7 } as const;
const HEARTBEAT = 0xffff_ffff;
const PROXY = 3;
const TYPE_BYTES = 4;
const START_BYTES = 12;

export interface WireAgentOptions {
  readonly port: number;
  /** The authority of the edge, PEM. */
  readonly ca: string;
  /** Takes a connection that the edge opened, from its first byte after the head on. */
  readonly serve: (stream: MuxStream) => StreamTaker;
  /** What an earlier connection was given, to resume its session. */
  readonly resumes?: Resumed;
  /** Time between heartbeats; default: none is sent, and the session ends after 25 s. */
  readonly beatMs?: number;
}

export interface Resumed {
  readonly clientId: string;
  readonly cookie: string;
}

/** An agent written by hand with our own multiplexer; it costs less than the published one, and does what is asked. */
export interface WireAgent {
  readonly socket: Socket;
  readonly connection: MuxConnection;
  readonly session: Resumed;
  /** Settles with the answer of a call; null if the stream was reset. */
  readonly call: (type: number, request: object) => Promise<Answer | null>;
  /** Settles with the reason when the connection has ended. */
  readonly closed: Promise<string>;
}

/** The response of the edge to a call. */
export type Answer = Readonly<Record<string, unknown>>;

/** Connects and starts a session. Throws with the reason if the edge refuses it. */
export async function wireAgent(options: WireAgentOptions): Promise<WireAgent> {
  const { port, ca, serve, resumes, beatMs } = options;
  const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca });
  socket.setNoDelay(true);
  await once(socket, 'secureConnect');
  const { promise: closed, resolve: end } = Promise.withResolvers<string>();
  const session = {
    opened: (stream: MuxStream) => new Opening(stream, connection, serve),
    received: () => undefined,
    closed: end,
  };
  const connection = new MuxConnection(socket, session, { firstId: 3, peerStreams: 512 });
  const call = (type: number, request: object) => called(connection, type, request);
  const extra = { AuthToken: 'x', OS: 'linux', Cookie: resumes?.cookie ?? '' };
  const started = await call(CALL.auth, {
    Version: ['3', '2'],
    ClientId: resumes?.clientId ?? '',
    Extra: extra,
  });
  if (started === null || 'Error' in started) throw new Error(`no session: ${JSON.stringify(started)}`);
  if (beatMs !== undefined) beat(connection, beatMs, closed);
  const { Cookie } = started['Extra'] as { readonly Cookie: string };
  return {
    socket,
    connection,
    session: { clientId: String(started['ClientId']), cookie: Cookie },
    call,
    closed,
  };
}

function called(connection: MuxConnection, type: number, request: object): Promise<Answer | null> {
  return new Promise((resolve) => {
    const duplex = openStream(connection, type, Buffer.from(JSON.stringify(request)));
    let text = '';
    duplex?.on('data', (bytes: Buffer) => (text += bytes.toString()));
    duplex?.on('end', () => {
      duplex.end();
      resolve(text === '' ? null : (JSON.parse(text) as Answer));
    });
    if (duplex === null) resolve(null);
    else duplex.on('close', () => resolve(null));
  });
}

/** Opens a typed stream with these first bytes in one frame. */
export function openStream(connection: MuxConnection, type: number, bytes: Uint8Array): StreamDuplex | null {
  const duplex = new StreamDuplex();
  const stream = connection.mux.open(duplex);
  if (stream === null) return null;
  const head = Buffer.alloc(TYPE_BYTES);
  head.writeUInt32BE(type);
  stream.write(Buffer.concat([head, bytes]));
  duplex.attach(stream);
  return duplex;
}

function beat(connection: MuxConnection, beatMs: number, closed: Promise<string>): void {
  const duplex = openStream(connection, HEARTBEAT, Buffer.alloc(TYPE_BYTES))!.resume();
  const timer = setInterval(() => void duplex.write(Buffer.alloc(TYPE_BYTES)), beatMs);
  void closed.then(() => clearInterval(timer));
}

/** Reads the head of a proxied connection, and passes the rest to its taker. */
class Opening implements StreamTaker {
  readonly #stream: MuxStream;
  readonly #connection: MuxConnection;
  readonly #serve: WireAgentOptions['serve'];
  #held = Buffer.alloc(0);

  constructor(stream: MuxStream, connection: MuxConnection, serve: WireAgentOptions['serve']) {
    this.#stream = stream;
    this.#connection = connection;
    this.#serve = serve;
  }

  data(bytes: Buffer): void {
    this.#held = Buffer.concat([this.#held, bytes]);
    if (this.#held.length < START_BYTES) return;
    const end = START_BYTES + Number(this.#held.readBigInt64LE(TYPE_BYTES));
    if (this.#held.length < end) return;
    if (this.#held.readUInt32BE(0) !== PROXY) {
      this.#stream.abort(0);
      return;
    }
    const taker = this.#serve(this.#stream);
    this.#stream.taker = taker;
    // At once, as agents do: it tells the edge that the connection was taken.
    this.#stream.receiveWindow += end;
    this.#connection.mux.grant(this.#stream.id, end);
    if (this.#held.length > end) taker.data(this.#held.subarray(end));
  }

  ended(): void {
    this.#stream.end();
  }

  reset(): void {
    this.#held = Buffer.alloc(0);
  }

  turn(): void {
    this.#stream.end();
  }
}
