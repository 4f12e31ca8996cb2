import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import type { MuxStream, StreamTaker } from '../../src/tunnel/mux/stream.ts';
import type { AgentOrder, FarEnd } from './processes.ts';
import { CALL, wireAgent } from './wire_agent.ts';

/**
 * The far end of tunnels: agents of ours that answer by themselves, a published agent with an app, or a TLS server
 * without any of it. `agent_process.ts <settings as JSON>`.
 */
const BODY = 'x'.repeat(1_024);
const RESPONSE = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`,
);
const CHUNK = Buffer.alloc(65_536, 1);
const HEAD_END = '\r\n\r\n';
/** A bulk transfer begins with its direction and its length in bytes. */
const BULK_BYTES = 9;

/** Answers requests, whose heads must come in one piece, and sends or takes bytes in bulk. */
class Answers implements StreamTaker {
  readonly #stream: MuxStream;
  #toSend = 0;
  #toTake = 0;

  constructor(stream: MuxStream) {
    this.#stream = stream;
  }

  data(bytes: Buffer): void {
    this.#stream.consumed(bytes.length);
    if (this.#toTake > 0) this.#take(bytes.length);
    else if (bytes[0] === 0x64) {
      this.#toSend = Number(bytes.readBigUInt64BE(1));
      this.#stream.wantsTurn();
    } else if (bytes[0] === 0x75) {
      this.#toTake = Number(bytes.readBigUInt64BE(1));
      this.#take(bytes.length - BULK_BYTES);
    } else
      for (let at = bytes.indexOf(HEAD_END); at >= 0; at = bytes.indexOf(HEAD_END, at + 1))
        this.#stream.write(RESPONSE);
  }

  #take(count: number): void {
    this.#toTake -= count;
    if (this.#toTake > 0) return;
    this.#stream.write(CHUNK.subarray(0, 1));
    this.#stream.end();
  }

  ended(): void {
    this.#stream.end();
  }

  reset(): void {
    this.#toSend = 0;
  }

  turn(): void {
    this.#toSend -= this.#stream.write(CHUNK.subarray(0, Math.min(this.#toSend, CHUNK.length)));
    if (this.#toSend > 0) this.#stream.wantsTurn();
    else this.#stream.end();
  }
}

/** The same bulk transfers over a bare connection. */
function bulk(socket: TLSSocket): void {
  socket.on('error', () => undefined);
  let toTake = 0;
  const take = (count: number): void => {
    toTake -= count;
    if (toTake <= 0) socket.end(CHUNK.subarray(0, 1));
  };
  const send = (left: number): void => {
    while (left > 0) {
      const piece = CHUNK.subarray(0, Math.min(left, CHUNK.length));
      left -= piece.length;
      if (!socket.write(piece)) {
        socket.once('drain', () => send(left));
        return;
      }
    }
    socket.end();
  };
  socket.on('data', (bytes: Buffer) => {
    if (toTake > 0) take(bytes.length);
    else if (bytes[0] === 0x64) send(Number(bytes.readBigUInt64BE(1)));
    else {
      toTake = Number(bytes.readBigUInt64BE(1));
      take(bytes.length - BULK_BYTES);
    }
  });
}

/** Sessions of ours, each with a tunnel for these labels. */
async function connectWire({ port, ca, sessions, labels }: AgentOrder): Promise<void> {
  for (let made = 0; made < sessions; made++) {
    const agent = await wireAgent({ port, ca, beatMs: 10_000, serve: (stream) => new Answers(stream) });
    if (labels !== null) await agent.call(CALL.startLabelled, { Labels: labels });
    // Nothing is in flight at the end.
    agent.closed.catch(() => undefined);
  }
}

/** The published agent, with an app of Node behind it. */
async function connectSdk({ port, caFile, labels }: AgentOrder): Promise<void> {
  const { default: ngrok } = (await import('@ngrok/ngrok')) as { readonly default: Sdk };
  const app = createHttpServer((_request, response) => response.end(BODY)).listen(0, '127.0.0.1');
  await once(app, 'listening');
  await ngrok.forward({
    addr: (app.address() as AddressInfo).port,
    proto: 'labeled',
    labels: Object.entries(labels ?? {}).map((pair) => pair.join(':')),
    authtoken: 'x',
    server_addr: `localhost:${port}`,
    root_cas: caFile,
  });
}

interface Sdk {
  readonly forward: (options: object) => Promise<unknown>;
}

const pair = JSON.parse(process.argv[2]!) as { readonly cert: string; readonly key: string };
const bare = createTlsServer({ ...pair, noDelay: true }, bulk).listen(0, '127.0.0.1');
await once(bare, 'listening');
process.on('message', (order: AgentOrder) => {
  const done = order.kind === 'sdk' ? connectSdk(order) : connectWire(order);
  void done.then(() => process.send!({ ready: true }));
});
process.on('disconnect', () => process.exit());
process.send!({ bare: (bare.address() as AddressInfo).port } satisfies FarEnd);
