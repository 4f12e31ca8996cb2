import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Relayed } from '../engine/stream_exchange.ts';
import { countGarbage } from './young_garbage.ts';
import { type Postponed, tickBatch } from './tick_batch.ts';

/** Maximum silence of a half-closed connection, in ms; our choice. */
export const HALF_OPEN_MS = 300_000;

/** The most that one tick gathers of one direction: the window of a tunnel. */
const TICK_BYTES = 262_144;

export interface TcpForwardOptions {
  /** Maximum time without a byte in either direction, in ms; 0 for no limit. */
  readonly idleMs: number;
  /** Closes the connection when the edge stops. */
  readonly drain: AbortSignal;
}

/**
 * Joins a client and a backend byte for byte until both have ended. The end of one direction is passed on
 * (half-close), a reset as a reset, and backpressure applies in both directions. `bytesIn` counts what the
 * client sent, `bytesOut` what the system has accepted for the client.
 */
export function forwardTcp(
  client: Duplex,
  backend: Duplex,
  { idleMs, drain }: TcpForwardOptions,
): Promise<Relayed> {
  const { promise, resolve } = Promise.withResolvers<Relayed>();
  let bytesIn = 0;
  let bytesOut = 0;
  let cut: Relayed['cut'] = 'none';
  let open = 2;
  let restMs = idleMs;
  let timer = idleMs > 0 ? setTimeout(() => stop('idle'), idleMs) : undefined;
  const onDrain = (): void => stop('drain');

  watch(client, 'client');
  watch(backend, 'upstream');
  join(client, backend, (bytes) => void (bytesIn += bytes), nothing);
  join(backend, client, nothing, (bytes) => void (bytesOut += bytes));
  if (drain.aborted) onDrain();
  else drain.addEventListener('abort', onDrain, { once: true });
  return promise;

  function join(
    from: Duplex,
    to: Duplex,
    came: (bytes: number) => void,
    went: (bytes: number) => void,
  ): void {
    const output = new TickOutput(from, to, (bytes) => {
      went(bytes);
      timer?.refresh();
    });
    from.on('data', (chunk: Buffer) => {
      came(chunk.length);
      timer?.refresh();
      output.write(chunk);
    });
    to.on('drain', () => from.resume());
    from.on('end', () => {
      output.settle();
      if (to.writable) to.end();
      // A half-closed connection gets a shorter time limit than one with two active sides.
      if (restMs > 0) restMs = Math.min(restMs, HALF_OPEN_MS);
      else restMs = HALF_OPEN_MS;
      clearTimeout(timer);
      if (open > 0) timer = setTimeout(() => stop('idle'), restMs);
    });
    from.resume();
  }

  function watch(side: Duplex, name: 'client' | 'upstream'): void {
    side.on('error', () => stop(name));
    const closed = (): void => {
      if (!side.readableEnded || !side.writableFinished) stop(name);
      if (--open > 0) return;
      clearTimeout(timer);
      drain.removeEventListener('abort', onDrain);
      resolve({ bytesIn, bytesOut, cut });
    };
    if (side.closed) closed();
    else side.once('close', closed);
  }

  function stop(by: Exclude<Relayed['cut'], 'none'>): void {
    if (cut !== 'none') return;
    cut = by;
    reset(client);
    reset(backend);
  }
}

function nothing(): void {}

/**
 * What is read in one tick becomes one call to the system: TLS and tunnels read in small pieces. The reader is
 * stopped when the system does not take all of it. To stop it earlier, at the mark of a stream that only gathers,
 * would send the rest of each tick through the reader's buffer.
 */
class TickOutput implements Postponed {
  readonly #from: Duplex;
  readonly #to: Duplex;
  /** Called with bytes that the system has accepted. */
  readonly #went: (bytes: number) => void;
  /** Whether the stream itself sends the writes of one tick together, as tunnels do. */
  readonly #isBatching: boolean;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #isStopped = false;

  constructor(from: Duplex, to: Duplex, went: (bytes: number) => void) {
    this.#from = from;
    this.#to = to;
    this.#went = went;
    this.#isBatching = 'batchesWrites' in to;
  }

  write(chunk: Buffer): void {
    countGarbage(chunk.length);
    if (this.#isBatching) {
      const { length } = chunk;
      if (!this.#to.write(chunk, (error) => this.#accepted(error, length))) this.#from.pause();
      return;
    }
    if (this.#chunks.push(chunk) === 1) tickBatch.add(this);
    this.#bytes += chunk.length;
    if (this.#bytes < TICK_BYTES) return;
    this.#isStopped = true;
    this.#from.pause();
  }

  settle(): void {
    const chunks = this.#chunks;
    if (chunks.length === 0) return;
    const bytes = this.#bytes;
    this.#chunks = [];
    this.#bytes = 0;
    const to = this.#to;
    const last = chunks.length - 1;
    to.cork();
    for (let at = 0; at < last; at++) to.write(chunks[at]);
    to.write(chunks[last], (error) => this.#accepted(error, bytes));
    to.uncork();
    if (to.writableNeedDrain && to.writableLength > 0) this.#from.pause();
    else if (this.#isStopped) this.#from.resume();
    this.#isStopped = false;
  }

  #accepted(error: Error | null | undefined, bytes: number): void {
    if (error === null || error === undefined) this.#went(bytes);
  }
}

/**
 * A connection that was cut must not look like a normal end (RFC 9293 §3.10.4). A socket whose end is just being sent
 * is closed: the system refuses to reset it, and Node would keep it open forever.
 */
function reset(side: Duplex): void {
  const isEnding = side.writableEnded && !side.writableFinished && side.writableLength === 0;
  if (side instanceof Socket && side.constructor === Socket && !side.destroyed && !isEnding)
    side.resetAndDestroy();
  else side.destroy();
}
