import { createHash, createHmac } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyText } from '../any_text.ts';
import { fromBase64 } from '../../src/crypto/base64.ts';
import { equalSecrets, equalTexts, digest, hmac, hmacKey } from '../../src/crypto/digest.ts';
import { sized } from '../random.ts';

describe('an HMAC', () => {
  // RFC 4231 §4.2 and §4.3, RFC 2202 §3.
  test.each([
    [
      'sha256',
      '0b'.repeat(20),
      'Hi There',
      'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
    ],
    [
      'sha256',
      Buffer.from('Jefe').toString('hex'),
      'what do ya want for nothing?',
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    ],
    ['sha1', '0b'.repeat(20), 'Hi There', 'b617318655057264e28bc0b6fb378c8ef146be00'],
  ] as const)('%s of the RFC', (hash, key, text, wanted) => {
    expect(hmac(hash, hmacKey(Buffer.from(key, 'hex')), [text], 'hex')).toBe(wanted);
  });

  test('of pieces equals that of their concatenation in UTF-8', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string({ unit: 'grapheme' })), (key, pieces) => {
        const whole = Buffer.from(pieces.join(''), 'utf8');
        const mixed = pieces.map((piece, at) => (at % 2 === 0 ? piece : Buffer.from(piece, 'utf8')));
        const wanted = createHmac('sha512', Buffer.from(key, 'utf8')).update(whole).digest('base64');
        expect(hmac('sha512', hmacKey(key), mixed, 'base64')).toBe(wanted);
        expect(digest('sha256', mixed, 'hex')).toBe(createHash('sha256').update(whole).digest('hex'));
      }),
      sized(200, 1),
    );
  });
});

test('texts are compared exactly', () => {
  fc.assert(
    fc.property(anyText(), anyText(), (one, other) => {
      // Lone surrogates have no UTF-8 of their own; no header and no configuration holds them.
      fc.pre(one.isWellFormed() && other.isWellFormed());
      for (const equal of [equalTexts, equalSecrets]) {
        expect(equal(one, one)).toBe(true);
        expect(equal(one, other)).toBe(one === other);
        expect(equal(one, `${one}x`)).toBe(false);
      }
    }),
    sized(300, 2),
  );
});

describe('base64', () => {
  test('is decoded in its canonical form only', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const text = Buffer.from(bytes).toString('base64');
        expect(fromBase64(text)).toEqual(Buffer.from(bytes));
      }),
      { seed: 3 },
    );
  });

  test.each(['a', 'aa', 'aaa', 'aa=', 'aa==x', 'aaaa\n', ' aaaa', 'aa-_', 'ab==', 'aab=', '===='])(
    'is not %j',
    (text) => {
      expect(fromBase64(text)).toBeNull();
    },
  );
});
