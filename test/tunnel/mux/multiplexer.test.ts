import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dataFrame, resetFrame, windowFrame } from '../../../src/tunnel/mux/frames.ts';
import { Multiplexer, type MuxOptions } from '../../../src/tunnel/mux/multiplexer.ts';
import { type MuxStream, type StreamTaker, WINDOW_BYTES } from '../../../src/tunnel/mux/stream.ts';
import { StreamDuplex } from '../../../src/tunnel/mux/stream_duplex.ts';
import { seeded, sized } from '../../random.ts';

/** What one end of a stream has seen and wants to send. */
class End implements StreamTaker {
  stream: MuxStream | null = null;
  readonly received: Buffer[] = [];
  ends = 0;
  resets = 0;
  toSend = Buffer.alloc(0);
  wantsToEnd = false;
  /** Received bytes that are not consumed yet. */
  unread = 0;
  data(bytes: Buffer): void {
    this.received.push(Buffer.from(bytes));
    this.unread += bytes.length;
  }
  ended(): void {
    this.ends++;
  }
  reset(): void {
    this.resets++;
  }
  turn(): void {
    const stream = this.stream!;
    this.toSend = this.toSend.subarray(stream.write(this.toSend));
    if (this.toSend.length > 0) stream.wantsTurn();
    else if (this.wantsToEnd) stream.end();
  }
  send(bytes: Buffer): void {
    this.toSend = Buffer.concat([this.toSend, bytes]);
    this.stream!.wantsTurn();
  }
  end(): void {
    this.wantsToEnd = true;
    if (this.toSend.length === 0) this.stream!.end();
  }
  consume(): void {
    const { unread } = this;
    this.unread = 0;
    this.stream!.consumed(unread);
  }
}

/** One side of a connection, whose output is kept. */
class Side {
  readonly mux: Multiplexer;
  readonly accepted: End[] = [];
  #frames: Buffer[] = [];
  constructor(options: Partial<MuxOptions> = {}) {
    this.mux = new Multiplexer(
      {
        opened: (stream) => {
          const end = new End();
          end.stream = stream;
          this.accepted.push(end);
          return end;
        },
        room: (bytes) => {
          const frame = Buffer.allocUnsafe(bytes);
          this.#frames.push(frame);
          return frame;
        },
        exhausted: () => undefined,
      },
      { firstId: 2, peerStreams: 1_000, ...options },
    );
  }
  open(): End {
    const end = new End();
    end.stream = this.mux.open(end);
    return end;
  }
  get output(): Buffer {
    return Buffer.concat(this.#frames);
  }
  taken(): Buffer {
    const { output } = this;
    this.#frames = [];
    return output;
  }
}

/** Passes all output of one side to the other, divided at random. */
function pass(from: Side, to: Side, random: () => number): void {
  let bytes = from.taken();
  while (bytes.length > 0) {
    const count = 1 + Math.floor(random() * Math.min(bytes.length, random() < 0.5 ? 7 : 50_000));
    expect(to.mux.receive(bytes.subarray(0, count))).toBeNull();
    bytes = bytes.subarray(count);
  }
}

test('streams carry what was sent, in order, each direction to its own end, however bytes are divided', () => {
  const step = fc.record({
    what: fc.constantFrom('open', 'send', 'send', 'end', 'consume', 'pause'),
    side: fc.nat(1),
    stream: fc.nat(20),
    bytes: fc.oneof(fc.nat(100), fc.nat(400_000)),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.nat(), (steps, seed) => {
      const random = seeded(seed);
      const sides = [new Side(), new Side({ firstId: 3 })] as const;
      const pairs: {
        ours: number;
        ends: [End, End | null];
        sent: [Buffer, Buffer];
        done: [boolean, boolean];
      }[] = [];
      const settle = (): void => {
        while (sides[0].output.length + sides[1].output.length > 0) {
          pass(sides[0], sides[1], random);
          pass(sides[1], sides[0], random);
        }
        for (const pair of pairs)
          pair.ends[1] ??=
            sides[1 - pair.ours]!.accepted.find((each) => each.stream!.id === pair.ends[0].stream!.id) ??
            null;
      };
      for (const { what, side, stream, bytes } of steps) {
        if (what === 'open') {
          const end = sides[side]!.open();
          pairs.push({
            ours: side,
            ends: [end, null],
            sent: [Buffer.alloc(0), Buffer.alloc(0)],
            done: [false, false],
          });
        } else if (what === 'pause') {
          if (random() < 0.5) sides[side]!.mux.pause();
          else sides[side]!.mux.resume();
        } else if (pairs.length > 0) {
          const pair = pairs[stream % pairs.length]!;
          const at = side === pair.ours ? 0 : 1;
          const end = pair.ends[at];
          if (end === null) continue;
          if (what === 'consume') end.consume();
          else if (what === 'end') {
            end.end();
            pair.done[at] = true;
          } else if (!pair.done[at]) {
            const more = Buffer.alloc(bytes, Math.floor(random() * 256));
            pair.sent[at] = Buffer.concat([pair.sent[at], more]);
            end.send(more);
          }
        }
        settle();
        for (const { ends } of pairs)
          for (const end of ends) expect(end?.unread ?? 0).toBeLessThanOrEqual(WINDOW_BYTES);
      }
      // Everything arrives when all is read.
      for (const { mux } of sides) mux.resume();
      for (let round = 0; round < 100; round++) {
        for (const { ends } of pairs) for (const end of ends) end?.consume();
        settle();
      }
      for (const { ends, sent, done } of pairs) {
        const [a, b] = ends;
        if (b === null) {
          expect(sent[0].length).toBe(0);
          continue;
        }
        expect(Buffer.concat(b.received).equals(sent[0])).toBe(true);
        expect(Buffer.concat(a.received).equals(sent[1])).toBe(true);
        expect([b.ends, a.ends]).toEqual([done[0] ? 1 : 0, done[1] ? 1 : 0]);
        expect(a.resets + b.resets).toBe(0);
        expect(a.stream!.isGone).toBe(done[0] && done[1]);
      }
      const open = (ours: number) =>
        pairs.filter((each) => each.ours === ours && !(each.done[0] && each.done[1])).length;
      expect([sides[0].mux.ownStreams, sides[1].mux.ownStreams]).toEqual([open(0), open(1)]);
    }),
    sized(400),
  );
});

describe('frames that an agent should not send', () => {
  const opened = () => {
    const side = new Side();
    expect(side.mux.receive(dataFrame(3, Buffer.from('abc'), { opens: true, isLast: false }))).toBeNull();
    return { side, end: side.accepted[0]! };
  };

  test('data for an unknown stream is answered with a reset, an end is not', () => {
    const { side } = opened();
    side.mux.receive(dataFrame(5, Buffer.from('x'), { opens: false, isLast: false }));
    expect(side.taken()).toEqual(resetFrame(5, 4));
    side.mux.receive(dataFrame(5, Buffer.alloc(0), { opens: false, isLast: true }));
    side.mux.receive(resetFrame(7, 1));
    side.mux.receive(windowFrame(7, 1));
    expect(side.taken()).toHaveLength(0);
  });

  test('more data than the window resets only that stream', () => {
    const { side, end } = opened();
    side.mux.receive(dataFrame(3, Buffer.alloc(WINDOW_BYTES - 2), { opens: false, isLast: false }));
    expect(side.taken()).toEqual(resetFrame(3, 3));
    expect([end.resets, end.received.length]).toEqual([1, 1]);
    side.mux.receive(dataFrame(5, Buffer.from('y'), { opens: true, isLast: true }));
    expect(side.accepted[1]!.ends).toBe(1);
  });

  test('streams beyond the limit are refused, the others go on', () => {
    const side = new Side({ peerStreams: 2 });
    for (const id of [3, 5, 7])
      side.mux.receive(dataFrame(id, Buffer.from('x'), { opens: true, isLast: false }));
    expect(side.taken()).toEqual(resetFrame(7, 9));
    expect(side.accepted).toHaveLength(2);
  });

  test.each([
    ['a stream of our parity', dataFrame(4, Buffer.from('x'), { opens: true, isLast: false })],
    ['a stream a second time', dataFrame(3, Buffer.from('x'), { opens: true, isLast: false })],
    ['an unknown type', Buffer.from('0000004000000003', 'hex')],
    ['a window for the connection', Buffer.from('000004200000000000000001', 'hex')],
    ['a reset of three bytes', Buffer.from('0000030000000003000001', 'hex')],
    ['a stream id with its top bit', Buffer.from('0000001080000003', 'hex')],
  ])('%s ends the session with GOAWAY', (_name, bytes) => {
    const { side } = opened();
    expect(side.mux.receive(bytes)).toEqual(expect.any(String));
    const goaway = side.taken();
    expect([goaway[3]! >> 4, goaway.readUIntBE(0, 3)]).toEqual([3, 8]);
  });

  test('GOAWAY ends the session, whatever its text', () => {
    const { side } = opened();
    expect(side.mux.receive(Buffer.from('00000c30000000000000000300000000686921', 'hex'))).toMatch(
      /is leaving/,
    );
  });
});

test('an abort ends the direction, resets the stream and gives credit, so that a blocked agent wakes up', () => {
  const side = new Side();
  const end = side.open();
  end.send(Buffer.from('x'));
  side.taken();
  end.stream!.abort(6);
  const empty = dataFrame(2, Buffer.alloc(0), { opens: false, isLast: true });
  expect(side.taken()).toEqual(Buffer.concat([empty, resetFrame(2, 6), windowFrame(2, 1)]));
  expect(side.mux.ownStreams).toBe(0);
});

test('a stream without credit delays no other', () => {
  const side = new Side();
  const [slow, quick] = [side.open(), side.open()];
  slow.send(Buffer.alloc(3 * WINDOW_BYTES));
  side.taken();
  quick.send(Buffer.from('now'));
  expect(side.taken().subarray(8).toString()).toBe('now');
});

test('streams take turns while the connection is full', () => {
  const side = new Side();
  side.mux.pause();
  const ends = [side.open(), side.open()];
  for (const end of ends) end.send(Buffer.alloc(200_000));
  expect(side.output).toHaveLength(0);
  side.mux.resume();
  const ids: number[] = [];
  for (let bytes = side.taken(); bytes.length > 0; bytes = bytes.subarray(8 + bytes.readUIntBE(0, 3)))
    ids.push(bytes.readUInt32BE(4));
  expect(ids.slice(0, 6)).toEqual([2, 4, 2, 4, 2, 4]);
});

test.each([0, 100_000])(
  'a stream whose peer has ended is read to its end after its session, %d bytes',
  async (more) => {
    const side = new Side();
    const duplex = new StreamDuplex();
    duplex.attach(side.mux.open(duplex)!);
    duplex.write('a question');
    const answer = Buffer.concat([Buffer.from('the answer'), Buffer.alloc(more, 'x')]);
    side.mux.receive(dataFrame(2, answer, { opens: false, isLast: true }));
    side.mux.close(0);
    let ended = false;
    const pieces: Buffer[] = [];
    duplex.on('data', (bytes: Buffer) => pieces.push(bytes)).on('end', () => (ended = true));
    await new Promise((resolve) => duplex.once('close', resolve));
    expect([ended, Buffer.concat(pieces).equals(answer), duplex.errored]).toEqual([
      true,
      true,
      expect.any(Error),
    ]);
  },
);

test('a stream whose peer has not ended fails with its session', () => {
  const side = new Side();
  const duplex = new StreamDuplex();
  duplex.attach(side.mux.open(duplex)!);
  duplex.write('a question');
  side.mux.receive(dataFrame(2, Buffer.from('half an ans'), { opens: false, isLast: false }));
  side.mux.close(0);
  expect(duplex.destroyed).toBe(true);
});
