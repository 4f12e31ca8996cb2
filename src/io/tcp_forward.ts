import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Relayed } from '../engine/stream.ts';
import { countRead } from './read_garbage.ts';
import { type Postponed, tickBatch } from './tick_batch.ts';

/** Maximum silence of a half-closed connection, in ms; our choice. */
export const HALF_OPEN_MS = 300_000;

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
    const output = new TickOutput(to, (bytes) => {
      went(bytes);
      timer?.refresh();
    });
    from.on('data', (chunk: Buffer) => {
      came(chunk.length);
      countRead(chunk.length);
      timer?.refresh();
      if (!output.write(chunk)) from.pause();
    });
    to.on('drain', () => from.resume());
    from.on('end', () => {
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

/** Writes of one tick to a connection become one call to the system: TLS and tunnels read in small pieces. */
class TickOutput implements Postponed {
  readonly #to: Duplex;
  /** Called with bytes that the system has accepted. */
  readonly #went: (bytes: number) => void;
  /** Whether the stream itself sends the writes of one tick together, as tunnels do. */
  readonly #isBatching: boolean;
  #isBegun = false;

  constructor(to: Duplex, went: (bytes: number) => void) {
    this.#to = to;
    this.#went = went;
    this.#isBatching = 'batchesWrites' in to;
  }

  write(chunk: Buffer): boolean {
    if (!this.#isBegun && !this.#isBatching) {
      this.#isBegun = true;
      this.#to.cork();
      tickBatch.add(this);
    }
    return this.#to.write(chunk, (error) => {
      if (error === null || error === undefined) this.#went(chunk.length);
    });
  }

  settle(): void {
    this.#isBegun = false;
    this.#to.uncork();
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
