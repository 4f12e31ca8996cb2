import fc from 'fast-check';
import { expect, test } from 'vitest';
import { brandingOf } from '../../src/engine/branding.ts';
import type { Edit } from '../../src/engine/contract.ts';
import { editHeaders, headersEdit } from '../../src/engine/edits.ts';
import { type MakeFields, forwardedByShape } from '../../src/engine/forwarded_shapes.ts';

const NAMES = [
  'accept',
  'Cookie',
  'x-internal',
  'x-zone',
  'X-Forwarded-For',
  'x-forwarded-host',
  'X_Forwarded_Proto',
  'service-auth-user-id',
  'Connection',
  'content-length',
  'te',
];
const VALUES = ['', '1', 'gzip, br', '203.0.113.1', 'x-zone, te', 'https', 'shop.test'];
const BRANDINGS = [brandingOf('service'), brandingOf('other')];
const EDITS: readonly (readonly Edit[])[] = [
  [],
  [headersEdit('request', ['x-internal'], ['x-zone', 'b', 'accept', 'c'])],
  [headersEdit('response', ['accept'], []), headersEdit('request', ['cookie', 'x-zone'], [])],
];

const request = fc.record({
  branding: fc.constantFrom(...BRANDINGS),
  edits: fc.constantFrom(...EDITS),
  names: fc.array(fc.constantFrom(...NAMES), { maxLength: 6 }),
  around: fc.record({
    authority: fc.constantFrom('shop.test', 'a.test:8443'),
    scheme: fc.constantFrom('http', 'https'),
    clientIp: fc.constantFrom('203.0.113.9', '::1'),
  }),
});
const values = fc.array(fc.constantFrom(...VALUES), { minLength: 6, maxLength: 6 });

test('fields by shape are those that are made each time', () => {
  let made = 0;
  let asked = 0;
  const property = fc.property(
    fc.array(request, { minLength: 1, maxLength: 12 }),
    fc.array(fc.tuple(fc.nat(), fc.nat(), fc.array(values, { minLength: 1, maxLength: 5 })), {
      maxLength: 20,
    }),
    (kinds, sent) => {
      const make: MakeFields = (branding, edits, headers, { authority, scheme, clientIp }) =>
        editHeaders(branding.forward(headers, authority, scheme, clientIp), edits, 'request');
      const byShape = forwardedByShape((...given) => {
        made++;
        return make(...given);
      });
      for (const [which, whose, own] of sent) {
        const { branding, edits, names } = kinds[which % kinds.length]!;
        const { around } = kinds[whose % kinds.length]!;
        for (const texts of own) {
          const headers = names.flatMap((name, at) => [name, texts[at]!]);
          asked++;
          const found = byShape(branding, edits, headers, around);
          expect(found).toEqual(make(branding, edits, headers, around));
          // The list is the caller's own.
          found.push('x-changed', 'later');
        }
      }
    },
  );
  fc.assert(property);
  expect(made).toBeLessThan(asked);
});

test('a list of the same names is made without looking at each of them, from the third on', () => {
  let made = 0;
  const byShape = forwardedByShape((_branding, _edits, headers, { authority, scheme, clientIp }) => {
    made++;
    return ['host', authority, ...headers, 'x-forwarded-for', clientIp, 'x-forwarded-proto', scheme];
  });
  const ask = (value: string) =>
    byShape(BRANDINGS[0]!, EDITS[0]!, ['cookie', value], {
      authority: `${value}.test`,
      scheme: 'https',
      clientIp: '::1',
    });
  ask('a');
  ask('b');
  const before = made;
  const expected = ['host', 'c.test', 'cookie', 'c', 'x-forwarded-for', '::1', 'x-forwarded-proto', 'https'];
  expect(ask('c')).toEqual(expected);
  expect(made).toBe(before);
});
