import type { Multiplexer } from './mux/multiplexer.ts';
import { StreamDuplex } from './mux/stream_duplex.ts';

/** The kind of stream that carries a connection. */
const PROXY = 3;
/** Agents drop their whole session above 512 streams, their own included. */
const MAX_STREAMS = 500;
/**
 * An agent queues 64 connections of a tunnel that its program has not accepted; with one more it blocks the whole
 * session.
 */
const MAX_UNTAKEN = 60;
/** Connections that wait for a free stream; beyond it they fail at once. */
const MAX_WAITING = 1_024;

/** The head of a proxied connection; all members are required, and `EdgeType` is a text. */
export interface ProxyHead {
  readonly Id: string;
  readonly ClientAddr: string;
  readonly Proto: string;
  readonly EdgeType: string;
  readonly PassthroughTLS: boolean;
}

interface Waiting {
  readonly duplex: StreamDuplex;
  readonly tunnel: string;
  /** The bytes that open the stream. */
  readonly first: Buffer;
}

/** The connections of clients that an agent carries, each in a stream of its own. */
export class ProxiedConnections {
  readonly #mux: Multiplexer;
  readonly #open = new Map<string, Set<StreamDuplex>>();
  readonly #waiting: Waiting[] = [];
  #closed: string | null = null;

  constructor(mux: Multiplexer) {
    this.#mux = mux;
  }

  /**
   * Opens a connection; it is ready at `connect`, which follows after the caller had time to listen. It waits while
   * the agent has too many; its user sets the limit.
   */
  open(head: ProxyHead, preface: Uint8Array | null): StreamDuplex {
    const duplex = new StreamDuplex();
    const waiting = { duplex, tunnel: head.Id, first: opening(head, preface) };
    process.nextTick(() => this.#begin(waiting));
    return duplex;
  }

  /** Opens connections that wait, as far as there is room now. */
  next(): void {
    const waiting = this.#waiting;
    // Most wait for the same tunnel. It is checked once: this runs after each read from the agent.
    const full = new Set<string>();
    let kept = 0;
    for (let at = 0; at < waiting.length; at++) {
      const each = waiting[at]!;
      if (each.duplex.destroyed) continue;
      if (!full.has(each.tunnel) && this.#hasRoom(each.tunnel)) {
        this.#start(each);
        continue;
      }
      full.add(each.tunnel);
      waiting[kept++] = each;
    }
    waiting.length = kept;
  }

  /** Ends the connections of a tunnel, which was stopped. */
  end(tunnel: string, reason: string): void {
    for (const duplex of this.#open.get(tunnel) ?? []) duplex.destroy(new Error(reason));
    for (const { duplex, tunnel: its } of this.#waiting) if (its === tunnel) leave(duplex, reason);
  }

  /** The session has ended; open streams were reset. */
  close(reason: string): void {
    this.#closed = reason;
    for (const { duplex } of this.#waiting.splice(0)) leave(duplex, reason);
  }

  #begin(waiting: Waiting): void {
    const { duplex, tunnel } = waiting;
    if (duplex.destroyed) return;
    if (this.#closed !== null) duplex.destroy(new Error(this.#closed));
    // Whatever frees a place starts what waits for it, so a free place is not wanted by an earlier connection.
    else if (this.#hasRoom(tunnel)) this.#start(waiting);
    else {
      duplex.isWaiting = true;
      // Those whose clients have left make room.
      if (this.#waiting.length >= MAX_WAITING) this.next();
      if (this.#waiting.length < MAX_WAITING) this.#waiting.push(waiting);
      else duplex.destroy(new Error('too many connections wait for the agent'));
    }
  }

  #start({ duplex, tunnel, first }: Waiting): void {
    const stream = this.#mux.open(duplex);
    duplex.isWaiting = false;
    if (stream === null) {
      duplex.destroy(new Error('the session cannot open any more streams'));
      return;
    }
    const open = this.#open.get(tunnel) ?? new Set();
    this.#open.set(tunnel, open.add(duplex));
    duplex.onOver = () => {
      open.delete(duplex);
      if (open.size === 0) this.#open.delete(tunnel);
      if (this.#waiting.length > 0) this.next();
    };
    stream.write(first);
    duplex.attach(stream);
  }

  #hasRoom(tunnel: string): boolean {
    if (this.#mux.ownStreams >= MAX_STREAMS) return false;
    const open = this.#open.get(tunnel);
    if (open === undefined || open.size < MAX_UNTAKEN) return true;
    let untaken = 0;
    for (const duplex of open) if (!duplex.isTaken) untaken++;
    return untaken < MAX_UNTAKEN;
  }
}

/** Ends a connection that waits, because its agent is gone. */
function leave(duplex: StreamDuplex, reason: string): void {
  duplex.isWaiting = false;
  duplex.destroy(new Error(reason));
}

/** The kind of stream, the length of the head (little-endian, unlike everything else), the head and the first bytes. */
function opening(head: ProxyHead, preface: Uint8Array | null): Buffer {
  const text = Buffer.from(JSON.stringify(head));
  const start = Buffer.alloc(12);
  start.writeUInt32BE(PROXY, 0);
  start.writeBigInt64LE(BigInt(text.length), 4);
  return Buffer.concat(preface === null ? [start, text] : [start, text, preface]);
}
