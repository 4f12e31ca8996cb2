import { connect, type Socket } from 'node:net';
import { codeName } from '../../src/http2/error_codes.ts';
import { HpackDecoder } from '../../src/http2/hpack/decoder.ts';
import { FLAG, FRAME, type Frame, frame, frameReader, SETTINGS_ACK, windowUpdate } from './frames.ts';
import type { Sent } from './oracle_script.ts';

/** What a client has seen after a step. */
export interface Seen {
  /** `open`, `closed`, or the code of GOAWAY. */
  readonly connection: string;
  /** By stream: the response and the code of its reset. */
  readonly streams: ReadonlyMap<number, string>;
}

/** No server is slower; once one was, a test has failed, and only looks for a shorter sequence. */
let patienceMs = 10_000;
const PATIENCE_AFTER_FAILURE_MS = 1_000;

interface Stream {
  status: string;
  seen: string;
  bytes: number;
  hasEnded: boolean;
  reset: number | null;
}

/** Plays the steps in lockstep: after each one a PING is acknowledged, and its responses arrive. */
export async function play(server: string, port: number, sent: readonly Sent[]): Promise<Seen[]> {
  const client = new Client(server, port);
  const all: Seen[] = [];
  try {
    for (const step of sent) {
      if (client.isOver) break;
      await client.take(step);
      all.push(client.seen());
    }
  } finally {
    client.socket.destroy();
  }
  return all;
}

class Client {
  readonly socket: Socket;
  readonly #streams = new Map<number, Stream>();
  readonly #decoder = new HpackDecoder(1e6);
  #pings = 0;
  #answered = 0;
  #goaway: number | null = null;
  #isClosed = false;
  /** The server has sent what no client can read. */
  #failure: unknown = null;
  #wake = (): void => undefined;
  readonly #server: string;

  constructor(server: string, port: number) {
    this.#server = server;
    const closed = (): void => {
      this.#isClosed = true;
      this.#wake();
    };
    const read = frameReader((each) => this.#frame(each));
    const came = (bytes: Buffer): void => {
      try {
        read(bytes);
      } catch (error) {
        this.#failure = error;
      }
      this.#wake();
    };
    this.socket = connect(port, '127.0.0.1').setNoDelay();
    this.socket.on('error', closed).on('end', closed).on('close', closed).on('data', came);
  }

  get isOver(): boolean {
    return this.#isClosed || (this.#goaway !== null && this.#goaway !== 0);
  }

  async take({ label, bytes, ending, beginning }: Sent): Promise<void> {
    await this.#lockstep(`'${label}'`, bytes);
    if (ending.length > 0 || beginning.length > 0) {
      const hasBegun = (id: number): boolean => this.#streams.has(id);
      const hasEnded = (id: number): boolean => {
        const stream = this.#streams.get(id);
        return stream !== undefined && (stream.hasEnded || stream.reset !== null);
      };
      const isAnswered = (): boolean => this.isOver || (ending.every(hasEnded) && beginning.every(hasBegun));
      await this.#until(`the responses after '${label}'`, isAnswered);
      await this.#lockstep(`the responses after '${label}'`);
    }
    if (this.isOver) await this.#until(`its end after '${label}'`, () => this.#isClosed);
  }

  seen(): Seen {
    const connection =
      this.#goaway !== null && this.#goaway !== 0
        ? codeName(this.#goaway)
        : this.#isClosed || this.#goaway === 0
          ? 'closed'
          : 'open';
    return { connection, streams: new Map(Array.from(this.#streams, ([id, each]) => [id, told(each)])) };
  }

  /** Sends a step with a PING, in one write: a server that closes the connection has then read both. */
  async #lockstep(after: string, bytes: Uint8Array = new Uint8Array()): Promise<void> {
    const payload = Buffer.alloc(8);
    payload.writeUInt32BE(++this.#pings);
    payload.write('step', 4, 'latin1');
    this.socket.write(Buffer.concat([bytes, frame(FRAME.ping, 0, 0, payload)]));
    await this.#until(
      `the acknowledgement of PING after ${after}`,
      () => this.isOver || this.#answered === this.#pings,
    );
  }

  async #until(what: string, isDone: () => boolean): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const late = new Error(`${this.#server} does not send ${what}`);
    const timer = setTimeout(() => {
      patienceMs = PATIENCE_AFTER_FAILURE_MS;
      reject(late);
    }, patienceMs);
    this.#wake = () => {
      if (this.#failure !== null) reject(this.#failure);
      else if (isDone()) resolve();
    };
    this.#wake();
    await promise.finally(() => clearTimeout(timer));
  }

  #frame({ type, flags, stream: id, payload }: Frame): void {
    const endsStream = (flags & FLAG.endStream) !== 0;
    if (type === FRAME.headers) this.#head(id, payload, endsStream);
    else if (type === FRAME.data) {
      const stream = this.#streams.get(id)!;
      stream.bytes += payload.length;
      stream.hasEnded ||= endsStream;
      if (payload.length > 0 && !this.isOver) this.socket.write(windowUpdate(0, payload.length));
    } else if (type === FRAME.reset) this.#stream(id).reset ??= payload.readUInt32BE(0);
    else if (type === FRAME.goaway) this.#goaway ||= payload.readUInt32BE(4);
    else if (type === FRAME.settings && (flags & FLAG.ack) === 0) this.socket.write(SETTINGS_ACK);
    else if (type === FRAME.ping && payload.toString('latin1', 4) === 'step')
      this.#answered = payload.readUInt32BE(0);
  }

  #head(id: number, payload: Buffer, endsStream: boolean): void {
    const { fields } = this.#decoder.decode(payload)!;
    const valueOf = (name: string): string =>
      fields[2 * fields.findIndex((_, at) => fields[2 * at] === name) + 1] ?? '';
    const stream = this.#stream(id);
    stream.status = valueOf(':status');
    stream.seen = valueOf('x-seen');
    stream.hasEnded ||= endsStream;
  }

  #stream(id: number): Stream {
    let stream = this.#streams.get(id);
    if (stream === undefined) {
      stream = { status: '', seen: '', bytes: 0, hasEnded: false, reset: null };
      this.#streams.set(id, stream);
    }
    return stream;
  }
}

/** A response, complete or not, and the reset of its stream; the content of an error is not compared. */
function told({ status, seen, bytes, hasEnded, reset }: Stream): string {
  const isComplete = hasEnded || reset === 0;
  const content = status === '200' && isComplete ? `200, ${bytes} bytes, ${seen}` : status;
  const end = reset !== null && reset !== 0 ? codeName(reset) : isComplete ? '' : 'unfinished';
  return [content, end].filter((part) => part !== '').join(', ');
}
