import { expect, test } from 'vitest';
import { ExchangeNotes } from '../../src/replay/exchange_notes.ts';
import { heldBytes } from '../held_bytes.ts';

const LIMIT = 65_536;
const REQUEST = {
  endpoint: { kind: 'static', id: 'app', host: '127.0.0.1', port: 1, tls: false },
  method: 'POST',
  target: '/',
  headers: [],
  body: null,
  upgrade: null,
} as const;

const forwardOf = (notes: ExchangeNotes) =>
  notes.asked({ ask: 'forward', request: REQUEST, converts: null })!;

test('a body is kept up to its limit, and counted, however it is divided', () => {
  const { requestBody: body } = forwardOf(new ExchangeNotes(10));
  for (const piece of ['', 'ab', 'c', 'defg', '', 'hijkl', 'm']) body.add(Buffer.from(piece));
  expect(body.size()).toBe(10);
  expect(body.body()).toEqual({ bytes: 13, text: 'abcdefghij', truncated: true });
});

test('a body in many small pieces takes no more memory than its bytes', () => {
  const kept = Array.from({ length: 20 }, () => forwardOf(new ExchangeNotes(LIMIT)));
  const before = heldBytes();
  for (const { requestBody } of kept)
    for (let count = 0; count < LIMIT; count++) requestBody.add(Buffer.from('a'));
  expect(heldBytes() - before).toBeLessThan(4 * kept.length * LIMIT);
  expect(kept.every(({ requestBody }) => requestBody.size() === LIMIT)).toBe(true);
});
