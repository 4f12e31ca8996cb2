import { deflateRawSync, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkWholeEdge } from '../../../src/edge/semantic_checks.ts';
import { writeInstant } from '../../../src/datetime/texts.ts';
import { readInstant } from '../../../src/auth/saml/instants.ts';
import { deflateStored, inflateRaw } from '../../../src/auth/saml/inflate.ts';
import { isMetadataProblem, readMetadata } from '../../../src/auth/saml/metadata.ts';
import { isXmlProblem, readXml } from '../../../src/auth/saml/xml.ts';
import { gateConfig } from './gate.ts';
import { IDP_METADATA } from './idp_metadata.ts';
import { cpuMs } from '../../cpu_time.ts';
import { sized } from '../../random.ts';

const SIZED = sized(200, 8);

describe('inflating', () => {
  it('reads what zlib has deflated, at every level', () => {
    const texts = fc.oneof(
      fc.uint8Array({ maxLength: 2_000 }),
      fc.string({ maxLength: 50 }).map((text) => Buffer.from(text.repeat(60))),
    );
    fc.assert(
      fc.property(texts, fc.integer({ min: 0, max: 9 }), (bytes, level) => {
        const deflated = deflateRawSync(bytes, { level });
        expect(Buffer.from(inflateRaw(deflated, 100_000)!).equals(Buffer.from(bytes))).toBe(true);
      }),
      SIZED,
    );
  });

  it('handles arbitrary input safely and within the limit', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const read = inflateRaw(bytes, 1_000);
        let right: Buffer | null = null;
        try {
          right = inflateRawSync(bytes);
        } catch {}
        if (read !== null) expect(right?.equals(Buffer.from(read))).toBe(true);
        expect(read?.length ?? 0).toBeLessThanOrEqual(1_000);
      }),
      SIZED,
    );
    expect(inflateRaw(deflateRawSync(Buffer.alloc(10_000_000)), 262_144)).toBeNull();
    expect(inflateRaw(Buffer.concat([deflateRawSync('a'), Buffer.from([0])]), 10)).toBeNull();
  });

  it('zlib reads uncompressed output', () => {
    for (const length of [0, 1, 65_535, 65_536, 200_000]) {
      const bytes = Buffer.alloc(length, 'abc');
      expect(inflateRawSync(deflateStored(bytes)).equals(bytes)).toBe(true);
    }
  });
});

describe('times', () => {
  it('agree with the platform', () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_000_000_000_000, max: 250_000_000_000_000 }), (ms) => {
        expect(writeInstant(ms)).toBe(new Date(ms).toISOString());
        expect(readInstant(writeInstant(ms))).toBe(ms);
      }),
      SIZED,
    );
  });

  it.each([
    '2026-01-01',
    '2026-01-01T00:00:00',
    '2026-13-01T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:00:60Z',
    '2026-01-01T00:00:00+00:00',
    '',
    'now',
  ])('%j is invalid', (text) => {
    expect(readInstant(text)).toBeNull();
  });
});

describe('XML', () => {
  it('any text is parsed or refused without exceptions', () => {
    const pieces = fc.constantFrom(
      '<a>',
      '</a>',
      '<a b="c"/>',
      '&amp;',
      '&#65;',
      '<!--x-->',
      '<![CDATA[x]]>',
      '<?x?>',
      'text',
      '"',
      '<',
      '>',
      'xmlns:p="u"',
      '<p:a/>',
      '\u0000',
      '\ud800',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const read = readXml(parts.join(''));
        expect(isXmlProblem(read) ? read.offset : read.offset).toBeGreaterThanOrEqual(0);
      }),
      SIZED,
    );
  });

  it('a large document is parsed in linear time', () => {
    const text = `<a>${'<b c="d">e</b>'.repeat(4_000)}</a>`;
    expect(cpuMs(() => expect(isXmlProblem(readXml(text))).toBe(false))).toBeLessThan(500);
  });

  it('prefixes in scope are limited, because the scope is copied for each element with declarations', () => {
    const declared = (depth: number) =>
      Array.from({ length: 40 }, (_, at) => ` xmlns:p${depth}.${at}="u"`).join('');
    const open = Array.from({ length: 40 }, (_, depth) => `<a${declared(depth)}>`).join('');
    const text = `${open}${'<a xmlns:b="c"/>'.repeat(4_000)}${'</a>'.repeat(40)}`;
    expect(cpuMs(() => expect(readXml(text)).toMatchObject({ problem: 'too_complex' }))).toBeLessThan(100);
    const usual = `<a${declared(0)}>${'<b xmlns:xs="c" xmlns:xsi="d"/>'.repeat(1_000)}</a>`;
    expect(isXmlProblem(readXml(usual))).toBe(false);
  });
});

describe('metadata', () => {
  const change = (from: string | RegExp, to: string): string => {
    const changed = IDP_METADATA.replace(from, to);
    expect(changed).not.toBe(IDP_METADATA);
    return changed;
  };

  it('is parsed with comments between elements and a byte order mark', () => {
    for (const text of [IDP_METADATA, `\ufeff${IDP_METADATA}`, change('<IDPSSO', '<!-- ours --><IDPSSO')]) {
      expect(readMetadata(text)).toMatchObject({
        entityId: 'https://idp.example.test/metadata',
        singleSignOn: { binding: 'redirect' },
      });
    }
  });

  it('a repeated certificate is used once', () => {
    const [descriptor] = /<KeyDescriptor.*<\/KeyDescriptor>/.exec(IDP_METADATA)!;
    const read = readMetadata(change('<KeyDescriptor', `${descriptor}<KeyDescriptor`));
    expect(isMetadataProblem(read) ? [] : read.certificates).toHaveLength(1);
  });

  it.each([
    ['no entity id', / entityID="[^"]*"/, ''],
    ['no role', /<IDPSSODescriptor.*<\/IDPSSODescriptor>/, ''],
    [
      'another protocol',
      /protocolSupportEnumeration="[^"]*"/,
      'protocolSupportEnumeration="urn:oasis:names:tc:SAML:1.1:protocol"',
    ],
    ['no certificate', /<KeyDescriptor.*<\/KeyDescriptor>/, ''],
    ['an invalid certificate', /<X509Certificate>.{20}/, '<X509Certificate>AAAA'],
    ['a certificate for encryption only', 'use="signing"', 'use="encryption"'],
    ['no login service', /<SingleSignOnService[^>]*>/, ''],
    [
      'only a binding that is not known',
      /(<SingleSignOnService Binding=")[^"]*/,
      '$1urn:oasis:names:tc:SAML:2.0:bindings:SOAP',
    ],
    ['a script as address', 'https://idp.example.test/sso', 'javascript:alert(1)'],
    ['an address with a user', 'https://idp.example.test/sso', 'https://a:b@idp.example.test/sso'],
    ['a comment in a text', /<X509Certificate>/, '<X509Certificate>AA<!-- -->'],
    ['a document type', /^/, '<!DOCTYPE x>'],
    ['a malformed end', ' entityID', ' validUntil="soon" entityID'],
  ] as const)('%s is a problem, with its place', (_name, from, to) => {
    const read = readMetadata(change(from, to));
    expect(isMetadataProblem(read) && read.problems.length).toBeGreaterThan(0);
    const { config, diagnostics } = checkWholeEdge({ value: gateConfig(change(from, to)) });
    expect(config).toBeNull();
    expect(diagnostics[0]).toMatchObject({
      code: 'edge.saml_metadata',
      pointer: '/edges/https/app/routes/0/saml/idp_metadata',
    });
    expect(diagnostics[0]!.message).toMatch(/line \d+, column \d+/);
  });

  it('expired certificates cause warnings if the time is known', () => {
    const at = (time: string) =>
      checkWholeEdge({ value: gateConfig(IDP_METADATA) }, { nowMs: Date.parse(time) }).diagnostics;
    expect(at('2030-01-01').map(({ code }) => code)).toEqual([]);
    expect(at('2040-01-01')).toMatchObject([{ code: 'edge.saml_expired', severity: 'warning' }]);
  });
});
