import type { Duplex } from 'node:stream';
import { FrameBoundary, goingAwayFrame } from './websocket_end.ts';

/** What passed through a tunnel, and which side broke it unless both ended it. */
export interface Spliced {
  readonly toUpstreamBytes: number;
  readonly toClientBytes: number;
  readonly cut: 'none' | 'client' | 'upstream';
}

/** How connections end when the edge stops. */
export interface Ending {
  readonly stop: AbortSignal;
  /** Whether both sides speak WebSocket, and get a close frame. */
  readonly isWebSocket: boolean;
}

/** How long the peers of a WebSocket may take to close after the close frame: all of a stop takes less than a second. */
const CLOSE_MS = 250;

/**
 * Maximum silence of a WebSocket after one side has ended, in ms; our choice. Its protocol has no half-closed state
 * (RFC 6455 §7.1.1), and a client that left without a close frame does not come back.
 */
const ENDED_WEBSOCKET_MS = 10_000;

/**
 * Joins two connections byte for byte, with backpressure, until both have ended. The end of one direction is
 * passed on (half-close); an error of either side, or no byte in either direction for `idleMs`, ends both. With
 * `ending`, both are closed when the edge stops, and a half-closed WebSocket has a shorter time. `observe` is called with the bytes that pass.
 */
export function splice(
  client: Duplex,
  upstream: Duplex,
  idleMs: number,
  ending: Ending | null = null,
  observe: ((way: 'toUpstream' | 'toClient', bytes: Uint8Array) => void) | null = null,
): Promise<Spliced> {
  return new Promise((resolve) => {
    const bytes = { toUpstream: 0, toClient: 0 };
    let cut: Spliced['cut'] = 'none';
    let open = 2;
    const silence = silenceLimit(stop);
    const frames = framesOf(ending);

    client.allowHalfOpen = true;
    upstream.allowHalfOpen = true;
    upstream.on('data', (chunk: Buffer) => count('toClient', chunk));
    client.on('data', (chunk: Buffer) => count('toUpstream', chunk));
    watch(client, upstream, 'client');
    watch(upstream, client, 'upstream');
    client.pipe(upstream);
    upstream.pipe(client);
    if (idleMs > 0) silence.endsAfter(idleMs, 'client');
    if (ending?.stop.aborted === true) goAway();
    else ending?.stop.addEventListener('abort', goAway, { once: true });

    function count(way: keyof typeof bytes, chunk: Buffer): void {
      bytes[way] += chunk.length;
      frames?.[way].take(chunk);
      observe?.(way, chunk);
      silence.refresh();
    }

    function watch(side: Duplex, other: Duplex, name: 'client' | 'upstream'): void {
      side.on('error', () => stop(name));
      if (frames !== null) side.once('end', () => silence.endsAfter(ENDED_WEBSOCKET_MS, name));
      side.once('close', () => {
        // An HTTP/2 stream that was reset reports the end of both directions. Our side ends when the other
        // side does, and not before.
        if (!side.readableEnded || !side.writableFinished || !other.readableEnded) stop(name);
        open--;
        if (open > 0) return;
        silence.clear();
        ending?.stop.removeEventListener('abort', goAway);
        resolve({ toUpstreamBytes: bytes.toUpstream, toClientBytes: bytes.toClient, cut });
      });
      if (side.destroyed) side.emit('close');
    }

    /** Within a frame, a close frame would be content of it. */
    function goAway(): void {
      if (frames === null || !frames.toUpstream.isBetween || !frames.toClient.isBetween)
        return stop('upstream');
      client.unpipe(upstream);
      upstream.unpipe(client);
      client.resume().end(goingAwayFrame(false));
      upstream.resume().end(goingAwayFrame(true));
      silence.endsAfter(CLOSE_MS, 'client', true);
    }

    function stop(by: 'client' | 'upstream'): void {
      if (cut === 'none') cut = by;
      client.destroy();
      upstream.destroy();
    }
  });
}

/** How long both sides may be silent before the tunnel is stopped. A last limit stays. */
function silenceLimit(stop: (by: 'client' | 'upstream') => void) {
  let timer: NodeJS.Timeout | undefined;
  let hasLast = false;
  return {
    endsAfter: (ms: number, by: 'client' | 'upstream', isLast = false): void => {
      if (hasLast) return;
      hasLast = isLast;
      clearTimeout(timer);
      timer = setTimeout(() => stop(by), ms);
    },
    refresh: () => void timer?.refresh(),
    clear: () => clearTimeout(timer),
  };
}

/** The frames of both directions, if they are those of a WebSocket. */
function framesOf(ending: Ending | null) {
  if (ending?.isWebSocket !== true) return null;
  return { toUpstream: new FrameBoundary(), toClient: new FrameBoundary() };
}
