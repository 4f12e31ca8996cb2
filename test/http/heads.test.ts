import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readRequestHead } from '../../src/engine/request_head.ts';
import { targetOf, withTarget } from '../../src/http/heads.ts';
import { formatTarget } from '../../src/http/target.ts';
import { sized } from '../random.ts';

const piece = fc.constantFrom('/', 'a', 'B', '.', '..', '%2f', '%61', '%', ';', '?', '=', '&', '//', '|');
const targets = fc.array(piece, { maxLength: 10 }).map((pieces) => `/${pieces.join('')}`);
const origins = fc.constantFrom('', 'http://shop.test');

test('a target is the path and the query of its head, also when they were replaced', () => {
  fc.assert(
    fc.property(targets, origins, targets, (sent, origin, other) => {
      const read = (target: string) =>
        readRequestHead({
          method: 'GET',
          target,
          version: '1.1',
          scheme: 'http',
          headers: ['host', 'shop.test'],
        });
      const head = read(origin + sent);
      if ('refused' in head) return;
      expect(targetOf(head)).toBe(formatTarget(head.path, head.query));
      const replaced = withTarget(head, head.path, other.slice(1));
      expect(targetOf(replaced)).toBe(`${head.path}?${other.slice(1)}`);
      const next = read(other);
      if (!('refused' in next))
        expect(targetOf(withTarget(head, next.path, next.query))).toBe(formatTarget(next.path, next.query));
    }),
    sized(2_000),
  );
});
