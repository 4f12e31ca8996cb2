import type { Duplex } from 'node:stream';

/** What passed through a tunnel, and which side broke it unless both ended it. */
export interface Spliced {
  readonly toUpstreamBytes: number;
  readonly toClientBytes: number;
  readonly cut: 'none' | 'client' | 'upstream';
}

/**
 * Joins two connections byte for byte, with backpressure, until both have ended. The end of one direction is
 * passed on (half-close); an error of either side, or no byte in either direction for `idleMs`, ends both.
 */
export function splice(client: Duplex, upstream: Duplex, idleMs: number): Promise<Spliced> {
  return new Promise((resolve) => {
    const bytes = { toUpstream: 0, toClient: 0 };
    let cut: Spliced['cut'] = 'none';
    let timer: NodeJS.Timeout | undefined;
    let open = 2;

    client.allowHalfOpen = true;
    upstream.allowHalfOpen = true;
    upstream.on('data', (chunk: Buffer) => count('toClient', chunk));
    client.on('data', (chunk: Buffer) => count('toUpstream', chunk));
    watch(client, upstream, 'client');
    watch(upstream, client, 'upstream');
    client.pipe(upstream);
    upstream.pipe(client);
    rest();

    function count(way: keyof typeof bytes, chunk: Buffer): void {
      bytes[way] += chunk.length;
      timer?.refresh();
    }

    function rest(): void {
      if (idleMs > 0) timer = setTimeout(() => stop('client'), idleMs);
    }

    function watch(side: Duplex, other: Duplex, name: 'client' | 'upstream'): void {
      side.on('error', () => stop(name));
      side.once('close', () => {
        // An HTTP/2 stream that was reset reports the end of both directions. Our side ends when the other
        // side does, and not before.
        if (!side.readableEnded || !side.writableFinished || !other.readableEnded) stop(name);
        open--;
        if (open > 0) return;
        clearTimeout(timer);
        resolve({ toUpstreamBytes: bytes.toUpstream, toClientBytes: bytes.toClient, cut });
      });
      if (side.destroyed) side.emit('close');
    }

    function stop(by: 'client' | 'upstream'): void {
      if (cut === 'none') cut = by;
      client.destroy();
      upstream.destroy();
    }
  });
}
