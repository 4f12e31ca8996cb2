import { describe, expect, it } from 'vitest';
import { selfSigned } from '../../control/certificates.ts';
import { checkWholeEdge } from '../../../src/edge/semantic_checks.ts';
import { isMetadataProblem, readMetadata } from '../../../src/auth/saml/metadata.ts';
import { consume, encode, responseXml, signed, withSignedAssertion, withSignedResponse } from './forge.ts';
import { gateConfig, gateOf } from './gate.ts';
import { IDP_METADATA } from './idp_metadata.ts';
import { browserOf } from './browser.ts';
import { HOME, HOUR_MS, IDP, START_MS, stage } from './stage.ts';

const MD = 'urn:oasis:names:tc:SAML:2.0:metadata';
const [DESCRIPTOR] = /<KeyDescriptor.*<\/KeyDescriptor>/.exec(IDP_METADATA)!;
const [RSA] = /<X509Certificate>.*<\/X509Certificate>/.exec(IDP_METADATA)!;

function ecDescriptor(): string {
  const base64 = selfSigned('next.example.test').pem.replaceAll(/-----[^-]*-----|\s/g, '');
  return DESCRIPTOR.replace(RSA, `<X509Certificate>${base64}</X509Certificate>`);
}

const idsOf = (text: string): string | string[] => {
  const read = readMetadata(text);
  return isMetadataProblem(read) ? read.problems.map(({ message }) => message) : read.entityId;
};

describe('certificates of metadata', () => {
  it('that are EC are ignored with a warning beside an RSA one', async () => {
    const ec = ecDescriptor();
    for (const both of [ec + DESCRIPTOR, DESCRIPTOR + ec]) {
      const text = IDP_METADATA.replace(DESCRIPTOR, both);
      const read = readMetadata(text);
      if (isMetadataProblem(read)) throw new Error(read.problems[0]!.message);
      expect(read.certificates.map(({ subject }) => subject)).toEqual(['CN=idp.example.test']);
      expect(read.passedOver).toEqual(['CN=next.example.test']);
      const { config, diagnostics } = checkWholeEdge({ value: gateConfig(text) });
      expect(config).not.toBeNull();
      expect(diagnostics).toMatchObject([
        {
          code: 'edge.saml_certificate',
          severity: 'warning',
          message: expect.stringContaining('CN=next.example.test'),
        },
      ]);
    }
  });

  it('that are only EC are an error', async () => {
    const text = IDP_METADATA.replace(DESCRIPTOR, ecDescriptor());
    expect(idsOf(text)).toEqual([expect.stringMatching(/no RSA certificate.*such as EC, are not supported/)]);
  });

  it('that are malformed are an error beside a valid one', () => {
    const broken = DESCRIPTOR.replace(RSA, '<X509Certificate>AAAA</X509Certificate>');
    expect(idsOf(IDP_METADATA.replace(DESCRIPTOR, DESCRIPTOR + broken))).toEqual([
      'has a certificate that cannot be read',
    ]);
  });
});

describe('metadata of a group', () => {
  const service = `<EntityDescriptor entityID="https://sp.test"><SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"/></EntityDescriptor>`;
  const group = (inside: string, attributes = ''): string =>
    `<EntitiesDescriptor xmlns="${MD}"${attributes}>${inside}</EntitiesDescriptor>`;
  const ID = 'https://idp.example.test/metadata';

  it('is accepted with one identity provider at any depth', () => {
    expect(idsOf(group(IDP_METADATA))).toBe(ID);
    expect(idsOf(group(service + IDP_METADATA))).toBe(ID);
    expect(idsOf(group(service + group(group(IDP_METADATA))))).toBe(ID);
  });

  it('with none or several identity providers is an error that lists them', () => {
    expect(idsOf(group(service))).toEqual([expect.stringContaining('has 0 <IDPSSODescriptor>')]);
    const two = group(IDP_METADATA + IDP_METADATA.replace(ID, 'https://two.test'));
    expect(idsOf(two)).toEqual([
      expect.stringContaining(`extract the <EntityDescriptor> of your provider (${ID}, https://two.test)`),
    ]);
  });

  it('expires with the earliest element around the role', () => {
    const inner = IDP_METADATA.replace(' entityID', ' validUntil="2027-01-01T00:00:00Z" entityID').replace(
      '<IDPSSODescriptor',
      '<IDPSSODescriptor validUntil="2028-01-01T00:00:00Z"',
    );
    const untilOf = (text: string) => {
      const read = readMetadata(text);
      return isMetadataProblem(read) ? null : read.validUntilMs;
    };
    expect(untilOf(group(inner))).toBe(Date.parse('2027-01-01'));
    expect(untilOf(group(inner, ' validUntil="2026-06-01T00:00:00Z"'))).toBe(Date.parse('2026-06-01'));
    expect(untilOf(IDP_METADATA)).toBeNull();
  });
});

describe('expired metadata', () => {
  const ending = (metadata: string, ms: number): string =>
    metadata.replace(' entityID', ` validUntil="${new Date(ms).toISOString()}" entityID`);

  it('is an error if the time is known', () => {
    const text = ending(IDP_METADATA, Date.parse('2026-01-01'));
    const check = (time: string) => checkWholeEdge({ value: gateConfig(text) }, { nowMs: Date.parse(time) });
    expect(check('2025-12-31T23:59:59.999Z').diagnostics).toEqual([]);
    expect(check('2026-01-01').diagnostics).toMatchObject([
      {
        code: 'edge.saml_metadata',
        severity: 'error',
        message: expect.stringContaining('expired on 2026-01-01'),
      },
    ]);
  });

  it('refuses logins in every state from that moment on', async () => {
    const all = stage();
    const clock = { nowMs: START_MS };
    const gate = gateOf(ending(all.idp.metadata, START_MS + HOUR_MS), {}, { clock: () => clock.nowMs });
    const browser = browserOf(async (request) => (await gate.edge.handle(request)).response);
    const begun = await browser.go(`${HOME}/`, null);
    expect(begun.status).toBe(302);
    clock.nowMs += HOUR_MS - 1;
    const late = await browser.go(`${HOME}/late`, null);
    expect(late.status).toBe(302);
    const RelayState = new URL(late.headers.get('location')!).searchParams.get('RelayState')!;
    clock.nowMs += 1;
    const form = new URLSearchParams({ SAMLResponse: encode('<x/>'), RelayState }).toString();
    for (const [path, body] of [
      ['/', null],
      ['/auth/saml/acs', form],
    ] as const) {
      const out = await browser.go(`${HOME}${path}`, body === null ? null : IDP, body);
      expect(out.status).toBe(502);
      expect(gate.explained.at(-1)).toMatchObject({
        code: 'saml.provider_failed',
        detail: { reason: 'metadata_ended' },
      });
    }
    const slo = await browser.go(`${HOME}/auth/saml/slo?SAMLRequest=x`, null);
    expect([slo.status, slo.text]).toEqual([400, expect.stringContaining('has expired')]);
  });
});

describe('extensions of a response', () => {
  const EXTENSIONS = '<samlp:Extensions><x:hint xmlns:x="urn:x">for no reader</x:hint></samlp:Extensions>';
  const withExtensions = (): string => responseXml().replace('<samlp:Status>', `${EXTENSIONS}<samlp:Status>`);

  it('are accepted where the schema allows them, and ignored', () => {
    const plain = consume(encode(withSignedAssertion()));
    expect(plain).toMatchObject({ nameId: 'ann' });
    expect(consume(encode(signed(withExtensions(), 'Assertion')))).toEqual(plain);
    expect(consume(encode(signed(withExtensions(), 'Response')))).toEqual(
      consume(encode(withSignedResponse())),
    );
  });
});
