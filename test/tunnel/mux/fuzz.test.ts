import { cpuMs } from '../../cpu_time.ts';
import { expect, test } from 'vitest';
import { dataFrame, goawayFrame, resetFrame, windowFrame } from '../../../src/tunnel/mux/frames.ts';
import { Multiplexer } from '../../../src/tunnel/mux/multiplexer.ts';
import { type MuxStream, type StreamTaker, WINDOW_BYTES } from '../../../src/tunnel/mux/stream.ts';
import { IS_FULL, SEED, runs, seeded } from '../../random.ts';

/** Streams of frames that are read; each begins as valid ones, most are mutated. */
const CASES = IS_FULL ? runs(1_000_000) : 4_000;
const PEER_STREAMS = 2;
/** A case takes less than a millisecond; this is for a machine that does other things. */
const LONGEST_MS = 2_000;
const ZEROS = Buffer.alloc(300_000);

type Random = () => number;

/** Mostly small, sometimes beyond the window. */
function size(random: Random): number {
  return Math.floor(random() * (random() < 0.05 ? 600_000 : 2_000));
}

/** A taker that does anything it may at any time, and counts the calls. */
class Capricious implements StreamTaker {
  readonly stream: MuxStream;
  readonly #random: Random;
  unread = 0;
  ends = 0;
  resets = 0;
  toSend = 0;

  constructor(stream: MuxStream, random: Random) {
    this.stream = stream;
    this.#random = random;
  }

  data(bytes: Buffer): void {
    if (this.resets + this.ends > 0) throw new Error('data after the end');
    this.unread += bytes.length;
    const what = this.#random();
    if (what < 0.4) this.read();
    else if (what < 0.45) this.stream.abort(6);
    else if (what < 0.5) this.send(size(this.#random));
    else if (what < 0.52) this.stream.end();
  }

  ended(): void {
    this.ends++;
    if (this.#random() < 0.5) this.stream.end();
  }

  reset(): void {
    this.resets++;
  }

  turn(): void {
    this.toSend -= this.stream.write(ZEROS.subarray(0, this.toSend));
    if (this.toSend > 0) this.stream.wantsTurn();
    else if (this.#random() < 0.2) this.stream.end();
  }

  read(): void {
    this.stream.consumed(this.unread);
    this.unread = 0;
  }

  send(bytes: number): void {
    this.toSend = bytes;
    this.stream.wantsTurn();
  }
}

/** Frames as an agent could send them, then a few mutations of their bytes. */
function mutated(random: Random): Buffer {
  const bytes = Buffer.concat(Array.from({ length: 1 + Math.floor(random() * 10) }, () => frame(random)));
  if (random() < 0.1) return bytes;
  const below = (limit: number): number => Math.floor(random() * limit);
  for (let left = below(4); left > 0; left--) bytes[below(bytes.length)] = below(256);
  const how = random();
  if (how < 0.1) return bytes.subarray(0, below(bytes.length));
  if (how < 0.2) return Buffer.concat([bytes, bytes.subarray(below(bytes.length))]);
  if (how < 0.3) {
    const at = below(bytes.length);
    return Buffer.concat([bytes.subarray(0, at), Buffer.from([below(256)]), bytes.subarray(at)]);
  }
  return bytes;
}

function frame(random: Random): Buffer {
  const id = Math.floor(random() * 12);
  const kind = random();
  if (kind < 0.1) return resetFrame(id, Math.floor(random() * 14));
  if (kind < 0.3) return windowFrame(id, Math.floor(random() * (random() < 0.5 ? 2 ** 31 : 300_000)));
  if (kind < 0.32) return goawayFrame(id, Math.floor(random() * 14));
  const body = ZEROS.subarray(0, Math.floor(random() * (random() < 0.005 ? 300_000 : 40)));
  return dataFrame(id, body, { opens: random() < 0.5, isLast: random() < 0.3 });
}

/** One session from its first byte to its end. Returns what is wrong; null if nothing is. */
function session(random: Random): string | null {
  const takers: Capricious[] = [];
  let outputBytes = 0;
  let sentBytes = 0;
  const mux = new Multiplexer(
    {
      opened: (stream) => {
        if (random() < 0.1) return null;
        takers.push(new Capricious(stream, random));
        return takers.at(-1)!;
      },
      room: (bytes) => {
        outputBytes += bytes;
        // Only data is longer than two numbers.
        if (bytes > 16) sentBytes += bytes;
        return Buffer.allocUnsafe(bytes);
      },
      exhausted: () => undefined,
    },
    { firstId: 2, peerStreams: PEER_STREAMS },
  );
  for (let own = Math.floor(random() * 3); own > 0; own--) {
    const taker: Capricious = new Capricious(mux.open({} as StreamTaker)!, random);
    taker.stream.taker = taker;
    takers.push(taker);
    taker.send(size(random));
  }
  const [bytes, before] = [mutated(random), outputBytes];
  const dataBefore = sentBytes;
  let problem: string | null = null;
  for (let at = 0; at < bytes.length && problem === null;) {
    const end = random() < 0.5 ? bytes.length : at + 1 + Math.floor(random() * 30);
    problem = mux.receive(bytes.subarray(at, end));
    at = end;
    if (random() < 0.1) mux.pause();
    if (random() < 0.1) mux.resume();
  }
  if (problem === '') return 'a session ended without a reason';
  const open = takers.filter(({ stream }) => !stream.isGone && stream.id % 2 === 1).length;
  if (open > PEER_STREAMS) return `${open} streams are open`;
  if (takers.some(({ unread }) => unread > WINDOW_BYTES)) return 'a taker holds more than a window';
  if (takers.some(({ ends, resets }) => Math.max(ends, resets) > 1)) return 'a stream ended twice';
  // Besides data, which credit limits, a frame of the peer causes at most an end, a reset and a grant each.
  if (outputBytes - before - (sentBytes - dataBefore) > 5 * bytes.length + 64)
    return `${outputBytes} bytes of output`;
  mux.close(0);
  if (mux.ownStreams !== 0) return `${mux.ownStreams} streams are left`;
  const after = outputBytes;
  for (const taker of takers) {
    if (!taker.stream.isGone) return 'a stream outlives its session';
    taker.send(10);
    taker.read();
    taker.stream.end();
    taker.stream.abort(6);
  }
  mux.resume();
  return outputBytes === after ? null : 'output after the end';
}

test(`${CASES} mutated streams of frames, seed ${SEED}: each ends its session at most`, () => {
  let longestMs = 0;
  for (let at = 0; at < CASES; at++) {
    longestMs = Math.max(
      longestMs,
      cpuMs(() => {
        const wrong = session(seeded(at));
        if (wrong !== null) expect.fail(`case ${at} of seed ${SEED}: ${wrong}`);
      }),
    );
  }
  expect(longestMs).toBeLessThan(LONGEST_MS);
}, 600_000);
