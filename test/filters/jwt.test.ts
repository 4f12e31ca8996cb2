import { cpuMs } from '../cpu_time.ts';
import { bodyFields, withoutTokenBody } from '../../src/filters/jwt_validation/action_tokens.ts';
import { constants, createHmac, generateKeyPairSync, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type JwsAlgorithm,
  type JwsKey,
  JWS_ALGORITHMS,
  jwsVerifies,
  readJwk,
} from '../../src/crypto/jws.ts';
import {
  type Requirements,
  type Token,
  claimsProblem,
  headerProblem,
  isTokenProblem,
  readKeySet,
  readToken,
  signatureProblem,
} from '../../src/filters/jwt_validation/algorithm.ts';
import { sized } from '../random.ts';

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

function keyOf(jwk: unknown): JwsKey {
  const key = readJwk(jwk);
  if ('problem' in key) throw new Error(key.problem);
  return key;
}

function tokenOf(text: string): Token {
  const token = readToken(text);
  if (isTokenProblem(token)) throw new Error(token.message);
  return token;
}

// Examples of RFC 7515, appendices A.1 and A.3, and of RFC 8037, appendix A.4.
const PUBLISHED: readonly (readonly [JwsAlgorithm, unknown, string])[] = [
  [
    'HS256',
    {
      kty: 'oct',
      k: 'AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow',
    },
    'eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  ],
  [
    'ES256',
    {
      kty: 'EC',
      crv: 'P-256',
      x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
      y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
    },
    'eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q',
  ],
  [
    'EdDSA',
    { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' },
    'eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg',
  ],
];

test.each(PUBLISHED)('verifies the published example of %s', (algorithm, jwk, text) => {
  const [header, payload, signature] = text.split('.') as [string, string, string];
  const key = keyOf(jwk);
  expect(jwsVerifies(algorithm, key, `${header}.${payload}`, Buffer.from(signature, 'base64url'))).toBe(true);
  expect(jwsVerifies(algorithm, key, `${header}.${payload}x`, Buffer.from(signature, 'base64url'))).toBe(
    false,
  );
});

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const curves = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' } as const;
const ec = {
  ES256: generateKeyPairSync('ec', { namedCurve: curves.ES256 }),
  ES384: generateKeyPairSync('ec', { namedCurve: curves.ES384 }),
  ES512: generateKeyPairSync('ec', { namedCurve: curves.ES512 }),
};
const ed25519 = generateKeyPairSync('ed25519');
const secret = Buffer.alloc(64, 7);

function pairOf(algorithm: JwsAlgorithm): {
  readonly jwk: Record<string, unknown>;
  readonly privateKey: KeyObject | null;
} {
  if (algorithm.startsWith('HS'))
    return { jwk: { kty: 'oct', k: secret.toString('base64url') }, privateKey: null };
  const pair = algorithm === 'EdDSA' ? ed25519 : algorithm in ec ? ec[algorithm as keyof typeof ec] : rsa;
  return { jwk: { ...pair.publicKey.export({ format: 'jwk' }) }, privateKey: pair.privateKey };
}

/** Signs with Node's functions, so that the tests do not depend on the code under test. */
function signedBy(algorithm: JwsAlgorithm, header: object, payload: unknown): string {
  const input = `${encoded({ alg: algorithm, ...header })}.${encoded(payload)}`;
  const hash = `sha${algorithm.slice(2)}`;
  const { privateKey } = pairOf(algorithm);
  if (privateKey === null) return `${input}.${createHmac(hash, secret).update(input).digest('base64url')}`;
  const options = {
    key: privateKey,
    dsaEncoding: 'ieee-p1363' as const,
    ...(algorithm.startsWith('PS')
      ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
      : {}),
  };
  const signature = sign(algorithm === 'EdDSA' ? null : hash, Buffer.from(input), options);
  return `${input}.${signature.toString('base64url')}`;
}

describe.each(JWS_ALGORITHMS)('%s', (algorithm) => {
  const text = signedBy(algorithm, {}, { iss: 'a' });
  const { jwk } = pairOf(algorithm);

  test('accepts its signature', () => {
    expect(signatureProblem(tokenOf(text), [keyOf(jwk)])).toBeNull();
  });

  test('refuses a changed, truncated or empty signature', () => {
    const token = tokenOf(text);
    const changed = Buffer.from(token.signature);
    changed[5]! ^= 1;
    for (const signature of [changed, token.signature.subarray(1), new Uint8Array(0)]) {
      expect(signatureProblem({ ...token, signature }, [keyOf(jwk)])).toMatchObject({ fault: 'signature' });
    }
  });

  test('refuses a signature without its leading zero', () => {
    if (!/^[RP]S/.test(algorithm)) return;
    // One of 256 signatures begins with a zero; PSS signatures differ each time, others with the payload.
    for (let at = 0; ; at++) {
      const token = tokenOf(signedBy(algorithm, {}, { iss: 'a', at }));
      if (token.signature[0] !== 0) continue;
      const signature = token.signature.subarray(1);
      expect(signatureProblem({ ...token, signature }, [keyOf(jwk)])).toMatchObject({ fault: 'signature' });
      return;
    }
  });

  test('refuses the token with any other algorithm', () => {
    const token = tokenOf(text);
    for (const other of JWS_ALGORITHMS.filter((each) => each !== algorithm)) {
      expect(signatureProblem({ ...token, algorithm: other }, [keyOf(jwk)])).not.toBeNull();
    }
  });

  test('does not use a key for another algorithm', () => {
    const other = algorithm === 'RS256' ? 'RS384' : 'RS256';
    expect(readJwk({ ...jwk, alg: algorithm })).toMatchObject({ algorithms: [algorithm] });
    const key = readJwk({ ...jwk, alg: other });
    expect('problem' in key || signatureProblem(tokenOf(text), [key])).not.toBeNull();
  });
});

describe('reading keys', () => {
  test('a public key is not used as an HMAC secret', () => {
    const pem = rsa.publicKey.export({ format: 'pem', type: 'spki' });
    const input = `${encoded({ alg: 'HS256' })}.${encoded({})}`;
    const forged = `${input}.${createHmac('sha256', pem).update(input).digest('base64url')}`;
    expect(signatureProblem(tokenOf(forged), [keyOf(pairOf('RS256').jwk)])).toMatchObject({
      fault: 'no_key',
    });
  });

  test('only the public part of a private key is used', () => {
    const key = keyOf(rsa.privateKey.export({ format: 'jwk' }));
    expect(key.key.type).toBe('public');
    expect(signatureProblem(tokenOf(signedBy('PS256', {}, {})), [key])).toBeNull();
  });

  test.each([
    ['null', null],
    ['a text', 'key'],
    ['nothing of a key', {}],
    ['an unknown kind', { kty: 'AKP' }],
    ['a key to encrypt with', { ...pairOf('RS256').jwk, use: 'enc' }],
    ['a key that only signs', { ...pairOf('RS256').jwk, key_ops: ['sign'] }],
    ['an algorithm of another kind', { ...pairOf('RS256').jwk, alg: 'ES256' }],
    ['`none`', { ...pairOf('RS256').jwk, alg: 'none' }],
    [
      'RSA of 1024 bits',
      generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' }),
    ],
    ['RSA without a modulus', { kty: 'RSA', e: 'AQAB' }],
    ['a curve that is not supported', { kty: 'EC', crv: 'secp256k1', x: 'a', y: 'b' }],
    ['a curve out of a prototype', { kty: 'EC', crv: 'constructor', x: 'a', y: 'b' }],
    ['a point that is not on the curve', { kty: 'EC', crv: 'P-256', x: 'AAAA', y: 'AAAA' }],
    ['an OKP key to agree on secrets', { kty: 'OKP', crv: 'X25519', x: 'AAAA' }],
    ['a short secret', { kty: 'oct', k: Buffer.alloc(31).toString('base64url') }],
    ['a secret in plain base64', { kty: 'oct', k: Buffer.alloc(32, 255).toString('base64') }],
  ])('refuses %s', (_what, jwk) => {
    expect(readJwk(jwk)).toHaveProperty('problem');
  });

  test('a short secret is used for short hashes only', () => {
    expect(keyOf({ kty: 'oct', k: Buffer.alloc(48).toString('base64url') }).algorithms).toEqual([
      'HS256',
      'HS384',
    ]);
  });

  test('unusable keys of a set are ignored', () => {
    const set = Buffer.from(JSON.stringify({ keys: [{ kty: 'AKP' }, pairOf('ES256').jwk, null] }));
    expect(readKeySet(set)).toHaveLength(1);
    for (const text of ['', 'null', '[]', '{}', '{"keys":{}}', '\ud800']) {
      expect(readKeySet(Buffer.from(text))).toBeNull();
    }
  });
});

describe('choosing a key', () => {
  const { jwk } = pairOf('ES256');
  const stranger = {
    ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }),
  };

  test.each([
    [
      'the named one',
      { kid: 'a' },
      [
        { ...stranger, kid: 'b' },
        { ...jwk, kid: 'a' },
      ],
      null,
    ],
    ['any where the token names none', {}, [stranger, { ...jwk, kid: 'a' }], null],
    ['one without a name', { kid: 'a' }, [jwk], null],
    ['not one of another name', { kid: 'a' }, [{ ...jwk, kid: 'b' }], 'no_key'],
    ['not a key of another type', {}, [pairOf('RS256').jwk], 'no_key'],
    ['none at all', {}, [], 'no_key'],
    ['a wrong one', { kid: 'a' }, [{ ...stranger, kid: 'a' }], 'signature'],
  ])('%s', (_what, header, keys, fault) => {
    const problem = signatureProblem(tokenOf(signedBy('ES256', header, {})), keys.map(keyOf));
    expect(problem?.fault ?? null).toBe(fault);
  });
});

describe('reading tokens', () => {
  const good = signedBy('HS256', {}, {});
  const [header, payload, signature] = good.split('.') as [string, string, string];
  test.each([
    ['nothing', ''],
    ['two parts', `${header}.${payload}`],
    ['five parts, an encrypted token', `${good}.a.b`],
    ['padding', `${header}=.${payload}.${signature}`],
    ['a blank', `${header}. ${payload}.${signature}`],
    ['stray bits', `${header}.${payload}.${signature.slice(0, -1)}${signature.endsWith('A') ? 'B' : '_'}`],
    ['a header that is a list', `${encoded([])}.${payload}.${signature}`],
    ['a payload that is a text', `${header}.${encoded('a')}.${signature}`],
    ['no JSON', `${Buffer.from('{').toString('base64url')}.${payload}.${signature}`],
    ['no algorithm', `${encoded({})}.${payload}.${signature}`],
    ['the algorithm none', `${encoded({ alg: 'none' })}.${payload}.`],
    ['None', `${encoded({ alg: 'None' })}.${payload}.`],
    ['an algorithm that is a list', `${encoded({ alg: ['HS256'] })}.${payload}.${signature}`],
    ['critical extensions', `${encoded({ alg: 'HS256', crit: ['b64'] })}.${payload}.${signature}`],
    ['a token that is too long', `${header}.${'A'.repeat(40_000)}.${signature}`],
  ])('refuses %s', (_what, text) => {
    expect(readToken(text)).toHaveProperty('fault');
  });

  test('never throws', () => {
    const part = fc.oneof(
      fc.string(),
      fc.json().map((text) => Buffer.from(text).toString('base64url')),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 4 }), (parts) => {
        expect(typeof readToken(parts.join('.'))).toBe('object');
      }),
      sized(2_000, 7519),
    );
  });
});

describe('claims', () => {
  const NOW_MS = 1_700_000_000_000;
  const base: Requirements = {
    algorithms: ['HS256'],
    issuers: ['https://idp.example/'],
    audiences: ['api'],
    type: null,
    expires: false,
  };
  const iss = 'https://idp.example/';
  test.each<[string, Record<string, unknown>, Partial<Requirements>, string | null]>([
    ['all is well', { iss, aud: 'api' }, {}, null],
    ['a list of audiences', { iss, aud: ['web', 'api'] }, {}, null],
    ['another audience', { iss, aud: 'web' }, {}, 'audience'],
    ['an audience that begins alike', { iss, aud: 'api2' }, {}, 'audience'],
    ['no audience', { iss }, {}, 'audience'],
    ['no audience, none wanted', { iss }, { audiences: null }, null],
    ['an issuer without its slash', { iss: 'https://idp.example', aud: 'api' }, {}, 'issuer'],
    ['no issuer', { aud: 'api' }, {}, 'issuer'],
    ['an issuer that is a list', { iss: [iss], aud: 'api' }, {}, 'issuer'],
    ['not expired', { iss, aud: 'api', exp: NOW_MS / 1_000 + 1 }, {}, null],
    ['expired this second', { iss, aud: 'api', exp: NOW_MS / 1_000 }, {}, 'expired'],
    ['an expiry that is a text', { iss, aud: 'api', exp: '9999999999' }, {}, 'expired'],
    ['no expiry where it is needed', { iss, aud: 'api' }, { expires: true }, 'expired'],
    ['valid from this second', { iss, aud: 'api', nbf: NOW_MS / 1_000 }, {}, null],
    ['valid from the next', { iss, aud: 'api', nbf: NOW_MS / 1_000 + 1 }, {}, 'not_yet_valid'],
    ['a beginning that is a text', { iss, aud: 'api', nbf: '1' }, {}, 'not_yet_valid'],
  ])('%s', (_what, payload, required, fault) => {
    const token = tokenOf(signedBy('HS256', {}, payload));
    expect(claimsProblem(token, { ...base, ...required }, NOW_MS)?.fault ?? null).toBe(fault);
  });

  test.each([
    [{ typ: 'at+jwt' }, 'at+jwt', null],
    [{ typ: 'application/AT+JWT' }, 'at+jwt', null],
    [{ typ: 'JWT' }, 'at+jwt', 'type'],
    [{}, 'at+jwt', 'type'],
    [{ typ: ['at+jwt'] }, 'at+jwt', 'type'],
    [{ typ: 'anything' }, null, null],
  ])('a header with %j where the type is %s', (header, type, fault) => {
    const token = tokenOf(signedBy('HS256', header, {}));
    expect(headerProblem(token, { ...base, type })?.fault ?? null).toBe(fault);
  });

  test('an algorithm that is not allowed', () => {
    expect(headerProblem(tokenOf(signedBy('HS512', {}, {})), base)?.fault).toBe('algorithm');
  });
});

describe('a body with a token', () => {
  const FORM = ['content-type', 'application/x-www-form-urlencoded'];

  test('is not read if it is a form of thousands of fields, which would take seconds', () => {
    expect(bodyFields(FORM, Buffer.from(`${'a&'.repeat(900)}token=x`))).toEqual(
      new Map([
        ['a', null],
        ['token', 'x'],
      ]),
    );
    for (const separator of '&;') {
      const long = Buffer.from(`${`a${separator}`.repeat(520_000)}token=x`);
      expect(cpuMs(() => expect(bodyFields(FORM, long)).toBe('bad_form'))).toBeLessThan(200);
    }
  });

  const tokenIn = (text: string) =>
    (bodyFields(FORM, Buffer.from(text)) as ReadonlyMap<string, string | null>).get('token');

  test.each(['token=valid&a=1;token=forged', 'token=valid&+token=forged', 'token=valid&token%00a=forged'])(
    'is ambiguous if other servers read two: %s',
    (text) => {
      expect(tokenIn(text)).toBe(null);
    },
  );

  test('may have semicolons elsewhere', () => {
    expect(tokenIn('token=valid&a=1;2')).toBe('valid');
  });

  const JSON_TYPE = ['content-type', 'application/json'];

  test.each([
    ['the same name', '{"token":"forged","token":"valid"}'],
    ['a name with an escape', String.raw`{"tok\u0065n":"forged","token":"valid"}`],
  ])('is refused if it has two: %s', (_which, text) => {
    expect(bodyFields(JSON_TYPE, Buffer.from(text))).toBe('bad_json');
  });

  test('is refused if it has two types, because a text can be a form and JSON', () => {
    const headers = [...JSON_TYPE, ...FORM];
    expect(withoutTokenBody({ method: 'POST', headers })).toBe('content_type');
  });
});
