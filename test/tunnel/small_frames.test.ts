import { expect, test } from 'vitest';
import { dataFrame } from '../../src/tunnel/mux/frames.ts';
import { Multiplexer } from '../../src/tunnel/mux/multiplexer.ts';
import { WINDOW_BYTES } from '../../src/tunnel/mux/stream.ts';
import { StreamDuplex } from '../../src/tunnel/mux/stream_duplex.ts';
import { JsonCollector } from '../../src/tunnel/rpc.ts';
import { heldBytes } from '../held_bytes.ts';

/** Agents that send one byte in each frame make the edge hold no more than those bytes. */

test('a request', () => {
  const length = 1_000_000;
  const collector = new JsonCollector(length);
  const before = heldBytes();
  expect(collector.add(Buffer.from('{'))).toBe(null);
  for (let count = 2; count < length; count++) collector.add(Buffer.from(' '));
  expect(heldBytes() - before).toBeLessThan(4 * length);
  expect(collector.add(Buffer.from('}'))).toEqual({ value: {} });
});

test('a connection whose client does not read', async () => {
  const duplexes: StreamDuplex[] = [];
  const owner = {
    opened: () => null,
    room: (bytes: number) => Buffer.alloc(bytes),
    exhausted: () => undefined,
  };
  const mux = new Multiplexer(owner, { firstId: 2, peerStreams: 1 });
  const ids = [2, 4, 6, 8];
  for (const id of ids) {
    const duplex = new StreamDuplex();
    const stream = mux.open(duplex)!;
    expect(stream.id).toBe(id);
    stream.write(Buffer.from('x'));
    duplex.attach(stream);
    duplexes.push(duplex);
  }
  const frames = ids.map((id) => {
    const frame = dataFrame(id, Buffer.from('y'), { opens: false, isLast: false });
    return Buffer.concat(Array.from({ length: WINDOW_BYTES }, () => frame));
  });
  const before = heldBytes();
  for (const frame of frames) expect(mux.receive(frame)).toBe(null);
  expect(heldBytes() - before).toBeLessThan(4 * ids.length * WINDOW_BYTES);
  for (const duplex of duplexes) {
    let read = 0;
    for await (const bytes of duplex) {
      read += (bytes as Buffer).length;
      if (read === WINDOW_BYTES) break;
    }
    expect(read).toBe(WINDOW_BYTES);
  }
});
