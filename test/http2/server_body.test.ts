import { expect, it } from 'vitest';
import { Http2Body } from '../../src/http2/server_body.ts';

const EXCHANGE = { sendContinue: () => undefined, waits: () => undefined, consumed: () => undefined };

/** A taker that keeps what it is lent, and pauses after each piece if asked to. */
function taker(isSlow: boolean) {
  const pieces: Uint8Array[] = [];
  const state = { pieces, ended: 0, text: () => Buffer.concat(pieces).toString() };
  return {
    ...state,
    take: (bytes: Uint8Array) => void pieces.push(bytes),
    rest: () => !isSlow,
    end() {
      this.ended++;
      return true;
    },
    fail: () => undefined,
  };
}

it('content that is not read is held in one piece, however many frames it came in', () => {
  const body = new Http2Body(EXCHANGE, null, false);
  for (let at = 0; at < 50_000; at++) body.receive(Buffer.from(String(at % 10)), true);
  body.receiveEnd([]);
  const reader = taker(false);
  body.flow(reader);
  expect(reader.pieces.length).toBe(1);
  expect(reader.text()).toBe('0123456789'.repeat(5_000));
  expect(reader.ended).toBe(1);
});

it('what was lent to a taker that pauses stays as it was', () => {
  const body = new Http2Body(EXCHANGE, null, false);
  body.receive(Buffer.from('one '), true);
  const reader = taker(true);
  body.flow(reader);
  // The bytes of a frame are overwritten by the next one.
  const frame = Buffer.from('two ');
  body.receive(frame, false);
  frame.fill('x');
  body.resume();
  body.receive(Buffer.from('three'), false);
  body.receiveEnd([]);
  body.resume();
  expect(reader.text()).toBe('one two three');
  expect(reader.ended).toBe(0);
  body.resume();
  expect(reader.ended).toBe(1);
});
