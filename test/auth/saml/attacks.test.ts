import { describe, expect, it } from 'vitest';
import { verifySignatures } from '../../../src/clients/saml_signatures.ts';
import { openResponse, validateResponse } from '../../../src/auth/saml/validate_response.ts';
import { SAML_REFUSALS } from '../../../src/auth/saml/reasons.ts';
import { useAssertion, usedAssertions } from '../../../src/auth/saml/replay.ts';
import { cpuMs } from '../../cpu_time.ts';
import { CLAIMS } from './claims.ts';
import {
  EXPECTED,
  KEY,
  NOW_MS,
  OTHER_KEY,
  REQUEST,
  assertionXml,
  at,
  consume,
  encode,
  responseXml,
  signed,
  withSignedAssertion,
  withSignedResponse,
} from './forge.ts';
import { TAMPERING } from './tampering.ts';
import { WRAPPING } from './wrapping.ts';

const ALL = [...WRAPPING, ...TAMPERING, ...CLAIMS];

describe('forged responses are refused', () => {
  it.each(ALL)('$name: $reason', ({ xml, reason }) => {
    expect(consume(encode(xml))).toMatchObject({ refused: reason });
  });

  it('are many and distinct', () => {
    expect(ALL.length).toBeGreaterThanOrEqual(150);
    expect(new Set(ALL.map(({ xml }) => xml)).size).toBe(ALL.length);
  });
});

describe('input that is not a response', () => {
  it.each([
    ['not base64', '%%%', 'base64_malformed'],
    [
      'base64 of the URL alphabet',
      encode(withSignedAssertion()).replaceAll('+', '-').replaceAll('/', '_'),
      'base64_malformed',
    ],
    ['base64 with stray bits', `${encode('<a/>').slice(0, -1)}/`, 'base64_malformed'],
    [
      'bytes that are not UTF-8',
      Buffer.from([0x3c, 0xff, 0xfe, 0x3e]).toString('base64'),
      'encoding_malformed',
    ],
    [
      'UTF-8 in an overlong form',
      Buffer.from([0x3c, 0xc0, 0xbc, 0x3e]).toString('base64'),
      'encoding_malformed',
    ],
    ['UTF-16', Buffer.from(withSignedAssertion(), 'utf16le').toString('base64'), 'malformed'],
    ['a megabyte', 'A'.repeat(1_048_576), 'too_large'],
  ])('%s', (_name, encoded, reason) => {
    expect(consume(encoded)).toMatchObject({ refused: reason });
  });
});

describe('checks behind the signature', () => {
  const opened = openResponse(encode(withSignedAssertion()));
  if ('refused' in opened) throw new Error(opened.refused);

  it.each([
    [
      'the bytes of another element',
      [assertionXml({ assertionId: '_evil', nameId: 'evil' })],
      'signed_part_differs',
    ],
    ['the bytes of a response', [responseXml()], 'signed_part_differs'],
    ['no bytes', [''], 'signed_part_differs'],
    ['too few', [], 'signed_part_differs'],
    ['too many', [assertionXml(), assertionXml()], 'signed_part_differs'],
    ['a comment in them', [assertionXml({ nameId: 'a<!---->b' })], 'signed_part_differs'],
  ])('%s', (_name, texts, reason) => {
    expect(validateResponse(opened, { signed: texts }, EXPECTED)).toMatchObject({ refused: reason });
  });

  it('identity is read from the signed bytes, not from what was sent', () => {
    const read = validateResponse(opened, { signed: [assertionXml({ nameId: 'signed' })] }, EXPECTED);
    expect(read).toMatchObject({ nameId: 'signed' });
  });

  it('an unavailable verifier refuses the login', () => {
    const answer = { failure: 'unavailable', detail: 'out' } as const;
    expect(validateResponse(opened, answer, EXPECTED)).toMatchObject({ refused: 'verifier_unavailable' });
  });

  it('a signed response whose assertion is another than the one sent', () => {
    const whole = openResponse(encode(withSignedResponse()));
    if ('refused' in whole) throw new Error(whole.refused);
    for (const inner of ['', assertionXml({ assertionId: '_evil' }), assertionXml() + assertionXml()]) {
      expect(validateResponse(whole, { signed: [responseXml({}, inner)] }, EXPECTED)).toMatchObject({
        refused: 'signed_part_differs',
      });
    }
  });

  it.each(WRAPPING)('the library alone never returns bytes with the forged user: $name', ({ xml }) => {
    const certificates = [KEY.certificatePem];
    for (const id of ['_assertion', '_response', '_evil', '_evilresponse']) {
      const answer = verifySignatures({ xml, ids: [id], certificates });
      if ('signed' in answer) expect(answer.signed.join('')).not.toContain('>evil<');
    }
  });

  it.each([
    ['no certificate', []],
    ['an invalid certificate', ['-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n']],
    ['an empty text', ['']],
  ])('%s verifies nothing', (_name, certificates) => {
    const answer = verifySignatures({ xml: withSignedAssertion(), ids: ['_assertion'], certificates });
    expect(answer).toMatchObject({ failure: 'invalid' });
  });
});

describe('a message that is made to take long', () => {
  // Added after signing, which takes the library as long.
  const many = (xml: string, count: number): string =>
    xml.replace('<saml:AttributeStatement>', `$&${'<a/>'.repeat(count)}`);
  const forged = (xml: string): string =>
    xml.replaceAll(/(<(?:ds:)?SignatureValue>)[^<]*/g, `$1${Buffer.alloc(256).toString('base64')}`);

  it.each([
    ['with a forged signature', () => forged(many(withSignedAssertion(), 3_000))],
    ['with two', () => forged(many(signed(withSignedAssertion(), 'Response'), 3_000))],
    ['with the signature of another', () => many(withSignedAssertion({}, { key: OTHER_KEY }), 3_000)],
  ])('%s is refused before its digests are compared', (_name, make) => {
    const encoded = encode(make());
    const provider = {
      ...EXPECTED.provider,
      certificates: Array.from({ length: 4 }, () => ({ pem: KEY.certificatePem })),
    };
    const took = cpuMs(() =>
      expect(consume(encoded, { provider })).toMatchObject({ refused: 'signature_invalid' }),
    );
    expect(took).toBeLessThan(250);
  });

  it('has too many elements', () => {
    expect(consume(encode(many(withSignedAssertion(), 4_097)))).toMatchObject({
      refused: 'too_complex',
    });
  });
});

describe('an assertion', () => {
  it('is valid once', () => {
    const used = usedAssertions();
    expect(useAssertion(used, 'a', NOW_MS + 1_000, NOW_MS)).toBe('fresh');
    expect(useAssertion(used, 'a', NOW_MS + 1_000, NOW_MS + 500)).toBe('used');
    expect(useAssertion(used, 'b', NOW_MS + 1_000, NOW_MS)).toBe('fresh');
  });

  it('is remembered longer than it is valid', () => {
    const read = consume(encode(withSignedAssertion()));
    if ('refused' in read) throw new Error(read.refused);
    const { assertionUntilMs } = read;
    expect(consume(encode(withSignedAssertion()), { nowMs: assertionUntilMs })).toHaveProperty('refused');
  });

  it('is remembered until its last confirmation ends', () => {
    const before = assertionXml();
    const confirmation = /<saml:SubjectConfirmation .*<\/saml:SubjectConfirmation>/.exec(before)![0];
    const later = confirmation.replace(at(300_000), at(3_600_000));
    const xml = withSignedAssertion({ notOnOrAfter: null, confirmation: confirmation + later });
    const read = consume(encode(xml));
    if ('refused' in read) throw new Error(read.refused);
    expect(consume(encode(xml), { nowMs: read.assertionUntilMs })).toMatchObject({
      refused: 'confirmation_expired',
    });
  });

  it('is refused while the store of used assertions is full', () => {
    const used = usedAssertions(2);
    useAssertion(used, 'a', NOW_MS + 1_000, NOW_MS);
    useAssertion(used, 'b', NOW_MS + 2_000, NOW_MS);
    expect(useAssertion(used, 'c', NOW_MS + 2_000, NOW_MS)).toBe('full');
    expect(useAssertion(used, 'c', NOW_MS + 2_000, NOW_MS + 1_000)).toBe('fresh');
    expect(useAssertion(used, 'b', NOW_MS + 2_000, NOW_MS + 1_500)).toBe('used');
  });

  it('with an older authentication is refused if a new one was required', () => {
    const request = { id: REQUEST, freshSinceMs: NOW_MS + 56_000 };
    expect(consume(encode(withSignedAssertion()), { request, nowMs: NOW_MS + 57_000 })).toMatchObject({
      refused: 'authn_stale',
    });
  });
});

it('every truncation of a good response is refused', () => {
  const encoded = signed(withSignedAssertion(), 'Response');
  for (let length = 0; length < encoded.length; length += 97) {
    expect(consume(encode(encoded.slice(0, length)))).toHaveProperty('refused');
  }
});

it('every change of one signed character is refused or has no effect', () => {
  const xml = withSignedAssertion();
  const good = JSON.stringify(consume(encode(xml)));
  const from = xml.indexOf('<saml:Assertion');
  for (let place = from; place < xml.length - 20; place += 61) {
    const other = xml[place] === 'x' ? 'y' : 'x';
    const read = consume(encode(xml.slice(0, place) + other + xml.slice(place + 1)));
    if (!('refused' in read)) expect(JSON.stringify(read)).toBe(good);
  }
});

it('every reason occurs for a message', () => {
  const reached = new Set(ALL.map(({ reason }) => reason));
  const elsewhere = new Set([
    'message_missing',
    'message_repeated',
    'deflate_malformed',
    'base64_malformed',
    'encoding_malformed',
    'not_a_logout_message',
    'verifier_unavailable',
    'authn_stale',
    'replayed',
    'replay_full',
    'replay_unknown',
    'group',
    'metadata_ended',
  ]);
  expect(Object.keys(SAML_REFUSALS).filter((code) => !reached.has(code) && !elsewhere.has(code))).toEqual([]);
});
