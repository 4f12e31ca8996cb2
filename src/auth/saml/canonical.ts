import { digest } from '../../crypto/digest.ts';
import { readPrivateKey } from '../../crypto/keys.ts';
import type { SigningIdentity } from '../../crypto/issue_certificate.ts';
import { signed } from '../../crypto/signatures.ts';
import { NS } from './elements.ts';

/** Namespaces of messages written here, by their prefix. */
const NAMESPACES = {
  samlp: NS.protocol,
  saml: NS.assertion,
  md: NS.metadata,
  ds: NS.signature,
} as const;

/** An element to serialize. */
export interface Written {
  readonly prefix: keyof typeof NAMESPACES;
  readonly local: string;
  readonly attributes: Readonly<Record<string, string | undefined>>;
  readonly children: readonly (Written | string)[];
}

/** Creates an element with attributes without namespace; undefined ones are omitted. */
export function element(
  name: `${keyof typeof NAMESPACES}:${string}`,
  attributes: Written['attributes'] = {},
  ...children: readonly (Written | string | null)[]
): Written {
  const [prefix, local] = name.split(':') as [keyof typeof NAMESPACES, string];
  return { prefix, local, attributes, children: children.filter((child) => child !== null) };
}

/**
 * Serializes an element in its exclusive canonical form (xml-exc-c14n §3, Canonical XML §2.3), so that it can
 * be signed without a canonicalizer. A namespace is declared where its prefix is first used.
 */
export function canonical(written: Written, declared: ReadonlySet<string> = new Set()): string {
  const { prefix, local, attributes, children } = written;
  const isNew = !declared.has(prefix);
  const namespace = isNew ? ` xmlns:${prefix}="${NAMESPACES[prefix]}"` : '';
  const inside = isNew ? new Set([...declared, prefix]) : declared;
  const listed = Object.keys(attributes)
    .sort()
    .flatMap((name) => {
      const value = attributes[name];
      return value === undefined ? [] : [` ${name}="${escapedValue(value)}"`];
    });
  const content = children.map((child) =>
    typeof child === 'string' ? escapedText(child) : canonical(child, inside),
  );
  return `<${prefix}:${local}${namespace}${listed.join('')}>${content.join('')}</${prefix}:${local}>`;
}

function escapedText(text: string): string {
  return plain(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\r', '&#xD;');
}

function escapedValue(text: string): string {
  return plain(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\t', '&#x9;')
    .replaceAll('\n', '&#xA;')
    .replaceAll('\r', '&#xD;');
}

/** Removes characters that XML does not allow. */
function plain(text: string): string {
  return text.replaceAll(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '');
}

const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const ENVELOPED = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';
export const RSA_SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
const SHA256 = 'http://www.w3.org/2001/04/xmlenc#sha256';

/** Signs octets with RSA and SHA-256 (RFC 8017 §8.2), as base64; null if the key is invalid. */
export function rsaSignature(octets: string, { privateKeyPem }: SigningIdentity): string | null {
  const key = readPrivateKey(privateKeyPem, 'rsa');
  if ('problem' in key) return null;
  return Buffer.from(signed({ key: 'rsa', hash: 'sha256' }, key, [octets])).toString('base64');
}

/** Signs octets; `certificate` contains its public key. The simulator's signer creates no real signatures. */
export interface Signer {
  readonly sign: (octets: string) => string | null;
  readonly certificate: Written;
}

/** A signer with a real key. */
export function rsaSigner(identity: SigningIdentity): Signer {
  return { sign: (octets) => rsaSignature(octets, identity), certificate: keyInfo(identity) };
}

/** Inserts a signature after the issuer, the first child (Core §5.4); null if signing fails. */
export function withSignature(written: Written, { sign, certificate }: Signer): Written | null {
  const { attributes, children } = written;
  const info = element(
    'ds:SignedInfo',
    {},
    element('ds:CanonicalizationMethod', { Algorithm: EXCLUSIVE }),
    element('ds:SignatureMethod', { Algorithm: RSA_SHA256 }),
    element(
      'ds:Reference',
      { URI: `#${attributes['ID'] ?? ''}` },
      element(
        'ds:Transforms',
        {},
        element('ds:Transform', { Algorithm: ENVELOPED }),
        element('ds:Transform', { Algorithm: EXCLUSIVE }),
      ),
      element('ds:DigestMethod', { Algorithm: SHA256 }),
      element('ds:DigestValue', {}, digest('sha256', [canonical(written)], 'base64')),
    ),
  );
  const value = sign(canonical(info));
  if (value === null) return null;
  const signature = element('ds:Signature', {}, info, element('ds:SignatureValue', {}, value), certificate);
  const [issuer, ...rest] = children;
  return { ...written, children: [issuer!, signature, ...rest] };
}

/** The certificate of a key as a `KeyInfo` element, for metadata and signatures. */
export function keyInfo({ certificatePem }: SigningIdentity): Written {
  const base64 = certificatePem.replaceAll(/-----[^-]*-----|\s/g, '');
  return element('ds:KeyInfo', {}, element('ds:X509Data', {}, element('ds:X509Certificate', {}, base64)));
}
