import * as crypto from 'node:crypto';
import { join } from 'node:path';
import { domainToASCII, domainToUnicode } from 'node:url';
import * as zlib from 'node:zlib';
import fc from 'fast-check';
import { rolldown } from 'rolldown';
import { describe, expect, test } from 'vitest';
import { Buffer as PageBuffer } from '../../src/browser/buffer.ts';
import * as page from '../../src/browser/crypto.ts';
import * as pageUrl from '../../src/browser/url.ts';
import * as pageZlib from '../../src/browser/zlib.ts';
import { PAGE_SCRIPT } from '../../rolldown.pages.ts';
import { folderWith } from '../folder.ts';
import { sized } from '../random.ts';

const bytes = fc.uint8Array({ maxLength: 300 });
const HASHES = ['md5', 'sha1', 'sha256', 'sha384', 'sha512'] as const;

describe('crypto', () => {
  test('hashes and HMAC', () => {
    fc.assert(
      fc.property(fc.constantFrom(...HASHES), bytes, bytes, fc.string(), (name, key, one, two) => {
        const hash = (by: typeof crypto | typeof page) =>
          (by as typeof crypto).createHash(name).update(one).update(two, 'utf8').digest('hex');
        const mac = (by: typeof crypto | typeof page) => {
          const node = by as typeof crypto;
          return node.createHmac(name, node.createSecretKey(key)).update(one).digest('base64');
        };
        expect(hash(page)).toBe(hash(crypto));
        expect(mac(page)).toBe(mac(crypto));
      }),
      sized(2_000),
    );
  });

  test('AES-256-GCM opens what the other one sealed, and refuses what was changed', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.uint8Array({ minLength: 12, maxLength: 12 }),
        bytes,
        fc.string(),
        (key, nonce, aad, text) => {
          const seal = (by: typeof crypto) => {
            const cipher = by.createCipheriv('aes-256-gcm', by.createSecretKey(key), nonce);
            cipher.setAAD(aad);
            const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
            return { body, tag: cipher.getAuthTag() };
          };
          const [ours, nodes] = [seal(page as unknown as typeof crypto), seal(crypto)];
          expect(ours.body.equals(nodes.body) && ours.tag.equals(nodes.tag)).toBe(true);
          const open = (tag: Uint8Array) => {
            const cipher = page.createDecipheriv('aes-256-gcm', page.createSecretKey(key), nonce);
            cipher.setAAD(aad).setAuthTag(tag);
            return Buffer.concat([cipher.update(nodes.body), cipher.final()]).toString('utf8');
          };
          expect(open(nodes.tag)).toBe(Buffer.from(text).toString('utf8'));
          expect(() => open(nodes.tag.map((byte) => byte ^ 1))).toThrow();
        },
      ),
      sized(500),
    );
  });

  const PAIRS = {
    rsa: crypto.generateKeyPairSync('rsa', { modulusLength: 2048 }),
    'P-256': crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    'P-384': crypto.generateKeyPairSync('ec', { namedCurve: 'P-384' }),
    'P-521': crypto.generateKeyPairSync('ec', { namedCurve: 'P-521' }),
    ed25519: crypto.generateKeyPairSync('ed25519'),
  } as const;
  type Kind = keyof typeof PAIRS;

  const hex = (der: unknown): string => Buffer.from(der as Uint8Array).toString('hex');

  test.each(Object.keys(PAIRS) as Kind[])('%s keys are read and written alike', (kind) => {
    const { publicKey, privateKey } = PAIRS[kind];
    const spki = publicKey.export({ type: 'spki', format: 'der' });
    const read = [
      page.createPublicKey(publicKey.export({ type: 'spki', format: 'pem' })),
      page.createPublicKey({ key: spki, format: 'der', type: 'spki' }),
      page.createPublicKey({
        key: publicKey.export({ format: 'jwk' }) as Record<string, unknown>,
        format: 'jwk',
      }),
      page.createPublicKey(page.createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' }))),
    ];
    for (const key of read) {
      expect(hex(key.export({ format: 'der' }))).toBe(hex(spki));
      expect(key.export({ format: 'jwk' })).toEqual(publicKey.export({ format: 'jwk' }));
      expect(key.type).toBe('public');
      expect(key.asymmetricKeyType).toBe(publicKey.asymmetricKeyType);
      const { modulusLength, namedCurve } = publicKey.asymmetricKeyDetails!;
      expect(key.asymmetricKeyDetails).toEqual({
        ...(modulusLength !== undefined && { modulusLength }),
        ...(namedCurve !== undefined && { namedCurve }),
      });
    }
    expect(() => page.createPrivateKey(publicKey.export({ type: 'spki', format: 'pem' }))).toThrow();
  });

  const SCHEMES = [
    ['rsa', 'sha1', {}],
    ['rsa', 'sha256', { padding: crypto.constants.RSA_PKCS1_PADDING }],
    ['rsa', 'sha384', {}],
    ['rsa', 'sha512', {}],
    ['rsa', 'sha256', { padding: crypto.constants.RSA_PKCS1_PSS_PADDING, saltLength: -1 }],
    ['rsa', 'sha512', { padding: crypto.constants.RSA_PKCS1_PSS_PADDING, saltLength: -1 }],
    ['P-256', 'sha256', {}],
    ['P-256', 'sha256', { dsaEncoding: 'ieee-p1363' }],
    ['P-384', 'sha384', { dsaEncoding: 'ieee-p1363' }],
    ['P-521', 'sha512', { dsaEncoding: 'ieee-p1363' }],
    ['ed25519', null, {}],
  ] as const;

  test.each(SCHEMES)('%s %s %o: each verifies the signatures of the other', (kind, hash, options) => {
    const pems = [
      PAIRS[kind].publicKey.export({ type: 'spki', format: 'pem' }),
      PAIRS[kind].privateKey.export({ type: 'pkcs8', format: 'pem' }),
    ] as const;
    const nodes = { public: crypto.createPublicKey(pems[0]), private: crypto.createPrivateKey(pems[1]) };
    const ours = { public: page.createPublicKey(pems[0]), private: page.createPrivateKey(pems[1]) };
    fc.assert(
      fc.property(bytes, fc.nat(), (data, flip) => {
        const signature = crypto.sign(hash, data, { key: nodes.private, ...options });
        expect(page.verify(hash, data, { key: ours.public, ...options }, signature)).toBe(true);
        const made = page.sign(hash, data, { key: ours.private, ...options });
        expect(crypto.verify(hash, data, { key: nodes.public, ...options }, made)).toBe(true);
        const changed = Uint8Array.from(signature);
        changed[flip % changed.length]! ^= 1 << (flip % 8);
        const refused = (verify: () => boolean): boolean => {
          try {
            return !verify();
          } catch {
            return true;
          }
        };
        expect(refused(() => page.verify(hash, data, { key: ours.public, ...options }, changed))).toBe(true);
      }),
      sized(100, 3),
    );
  });
});

describe('zlib', () => {
  const texts = fc.string({ maxLength: 3_000, unit: fc.constantFrom('a', 'b', 'ab', '<p>', '\u{1f600}') });

  test('everything is decoded to what it was by Node', () => {
    fc.assert(
      fc.property(texts, fc.constantFrom(1, 30, 70), (text, times) => {
        const input = Buffer.from(text.repeat(times));
        expect(zlib.gunzipSync(pageZlib.gzipSync(input, { level: 1 })).equals(input)).toBe(true);
        expect(zlib.inflateSync(pageZlib.deflateSync(input, { level: 1 })).equals(input)).toBe(true);
        expect(zlib.brotliDecompressSync(pageZlib.brotliCompressSync(input)).equals(input)).toBe(true);
        expect(zlib.zstdDecompressSync(pageZlib.zstdCompressSync(input)).equals(input)).toBe(true);
        expect(pageZlib.crc32(input)).toBe(zlib.crc32(input));
      }),
      sized(500),
    );
  });

  test('a flushed body lacks only its last block', () => {
    const input = Buffer.from('<p>hello</p>'.repeat(500));
    const flushed = pageZlib.gzipSync(input, { level: 1, finishFlush: pageZlib.constants.Z_SYNC_FLUSH });
    const decoder = zlib.gunzipSync(flushed, { finishFlush: zlib.constants.Z_SYNC_FLUSH });
    expect(decoder.equals(input)).toBe(true);
    const nodes = zlib.gzipSync(input, { level: 1, finishFlush: zlib.constants.Z_SYNC_FLUSH });
    expect(flushed.length).toBe(nodes.length);
    const open = pageZlib.brotliCompressSync(input, { finishFlush: 1 });
    expect(zlib.brotliDecompressSync(Buffer.concat([open, Buffer.from([3])])).equals(input)).toBe(true);
  });

  test('raw DEFLATE: the same result, the same input that was read, the same refusals', () => {
    const attempt = (inflate: () => unknown): unknown => {
      try {
        return inflate();
      } catch {
        return 'refused';
      }
    };
    fc.assert(
      fc.property(texts, bytes, fc.constantFrom(100, 10_000), fc.boolean(), (text, rest, limit, isNoise) => {
        const input = isNoise ? rest : Buffer.concat([zlib.deflateRawSync(text), rest]);
        const options = { maxOutputLength: limit, info: true };
        const read = ({ buffer, engine }: ReturnType<typeof pageZlib.inflateRawSync>) => [
          Buffer.from(buffer).toString('hex'),
          engine.bytesWritten,
        ];
        const ours = attempt(() => read(pageZlib.inflateRawSync(input, options)));
        const nodes = attempt(() => read(zlib.inflateRawSync(input, options) as never));
        expect(ours).toEqual(nodes);
      }),
      sized(2_000),
    );
  });
});

test('host names', () => {
  const NAMES = [
    'shop.test',
    'bücher.example',
    'faß.de',
    'xn--bcher-kva.example',
    'a b',
    'A.Test',
    '',
    'xn--a',
    '例え.テスト',
  ];
  for (const name of NAMES) {
    expect([name, pageUrl.domainToASCII(name)]).toEqual([name, domainToASCII(name)]);
    expect([name, pageUrl.domainToUnicode(name)]).toEqual([name, domainToUnicode(name)]);
  }
});

test('base64url', () => {
  fc.assert(
    fc.property(bytes, (input) => {
      const text = Buffer.from(input).toString('base64url');
      expect(PageBuffer.from(input).toString('base64url')).toBe(text);
      expect([...PageBuffer.from(text, 'base64url')]).toEqual([...input]);
    }),
    sized(500),
  );
});

/** Otherwise two builds could differ: the file that first asks for a twin is not always the same. */
test('a twin is the same module for those who ask for the module of Node and for those who ask for its file', async () => {
  const file = join(import.meta.dirname, '../../src/browser/path.ts');
  const bundled = async (specifier: string): Promise<string> => {
    const folder = folderWith({ 'entry.js': `export { join } from '${specifier}';` });
    const build = await rolldown({ ...PAGE_SCRIPT, input: join(folder, 'entry.js'), logLevel: 'silent' });
    return (await build.generate({ format: 'esm' })).output[0].code;
  };
  expect(await bundled('node:path')).toBe(await bundled(file));
});
