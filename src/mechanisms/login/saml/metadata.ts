import { writeDay } from '../../../calendar/texts.ts';
import { readRsaCertificate } from '../../../crypto/certificate.ts';
import { NS, attributeOf, childrenOf, elementsOf, isNamed, textOf } from './elements.ts';
import { readInstant } from './instants.ts';
import { isXmlProblem, readXml } from './xml.ts';
import type { XmlElement } from './xml_tree.ts';

export const BINDING = {
  redirect: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect',
  post: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST',
} as const;

export type Binding = keyof typeof BINDING;

/** Where a service of the identity provider is. */
export interface Endpoint {
  readonly binding: Binding;
  readonly url: string;
  /** Where answers go, when it is somewhere else. */
  readonly responseUrl: string;
}

/** An identity provider as its metadata describes it (SAML Metadata §2.4.3). */
export interface ProviderMetadata {
  readonly entityId: string;
  readonly certificates: readonly ProviderCertificate[];
  /** The redirect binding before the other. */
  readonly singleSignOn: Endpoint;
  /** Null when it has none that can be used. */
  readonly singleLogout: Endpoint | null;
  /** When the metadata itself ends; null when it does not say. */
  readonly validUntilMs: number | null;
}

export interface ProviderCertificate {
  readonly pem: string;
  readonly subject: string;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** What is wrong with metadata: the end of a sentence about it, and the offset in its text. */
export interface MetadataProblem {
  readonly says: string;
  readonly offset: number;
}

const PROTOCOL = 'urn:oasis:names:tc:SAML:2.0:protocol';
const METADATA_LIMIT_CHARS = 1_048_576;

/** Reads the metadata of one identity provider strictly; all problems at once. */
export function readMetadata(
  xml: string,
): ProviderMetadata | { readonly problems: readonly MetadataProblem[] } {
  const root = readXml(xml.replace(/^\u{feff}/u, ''), { limitChars: METADATA_LIMIT_CHARS, comments: 'skip' });
  if (isXmlProblem(root)) return { problems: [{ says: root.says, offset: root.offset }] };
  const problems: MetadataProblem[] = [];
  const report = (says: string, at: XmlElement): void => {
    problems.push({ says, offset: at.offset });
  };
  if (!isNamed(root, NS.metadata, 'EntityDescriptor')) {
    report(`has <${root.local}> as its root, where <EntityDescriptor> of SAML 2.0 metadata is needed`, root);
    return { problems };
  }
  const entityId = attributeOf(root, 'entityID') ?? '';
  if (entityId === '' || entityId.length > 1024) report("has no usable 'entityID'", root);
  const validUntilMs = readValidUntil(root, report);
  const role = roleOf(root, report);
  if (role === null) return { problems };
  const certificates = certificatesOf(role, report);
  const singleSignOn = endpointOf(role, 'SingleSignOnService', report);
  const singleLogout = endpointOf(role, 'SingleLogoutService', report);
  if (singleSignOn === null) {
    report('has no <SingleSignOnService> with the HTTP-Redirect or the HTTP-POST binding', role);
  }
  if (problems.length > 0 || singleSignOn === null) return { problems };
  return { entityId, certificates, singleSignOn, singleLogout, validUntilMs };
}

/** Narrows what `readMetadata` gave. */
export function isMetadataProblem(
  read: ReturnType<typeof readMetadata>,
): read is { readonly problems: readonly MetadataProblem[] } {
  return 'problems' in read;
}

/** What will stop working, or has: certificates and metadata whose time is over at `nowMs`. */
export function metadataWarnings(metadata: ProviderMetadata, nowMs: number): readonly string[] {
  const warnings = metadata.certificates.flatMap(({ subject, fromMs, untilMs }) => {
    const name = subject.replaceAll('\n', ', ');
    if (nowMs >= untilMs) return [`the certificate of ${name} has expired on ${writeDay(untilMs)}`];
    if (nowMs < fromMs) return [`the certificate of ${name} is not valid before ${writeDay(fromMs)}`];
    return [];
  });
  const { validUntilMs } = metadata;
  const isOver = validUntilMs !== null && nowMs >= validUntilMs;
  return isOver ? [...warnings, `the metadata has ended on ${writeDay(validUntilMs)}`] : warnings;
}

type Reporter = (says: string, at: XmlElement) => void;

function readValidUntil(root: XmlElement, report: Reporter): number | null {
  const text = attributeOf(root, 'validUntil');
  if (text === undefined) return null;
  const atMs = readInstant(text);
  if (atMs === null) report("has a 'validUntil' that is no time in UTC", root);
  return atMs;
}

function roleOf(root: XmlElement, report: Reporter): XmlElement | null {
  const roles = childrenOf(root, NS.metadata, 'IDPSSODescriptor').filter((role) =>
    (attributeOf(role, 'protocolSupportEnumeration') ?? '').split(/\s+/).includes(PROTOCOL),
  );
  if (roles.length !== 1) {
    report(`has ${roles.length} <IDPSSODescriptor> for SAML 2.0, where exactly one is needed`, root);
    return null;
  }
  return roles[0]!;
}

function certificatesOf(role: XmlElement, report: Reporter): ProviderCertificate[] {
  const found: ProviderCertificate[] = [];
  for (const descriptor of childrenOf(role, NS.metadata, 'KeyDescriptor')) {
    const use = attributeOf(descriptor, 'use');
    // Without a use the key is for both (Metadata §2.4.1.1).
    if (use !== undefined && use !== 'signing') continue;
    for (const info of childrenOf(descriptor, NS.signature, 'KeyInfo')) {
      for (const data of childrenOf(info, NS.signature, 'X509Data')) {
        for (const element of childrenOf(data, NS.signature, 'X509Certificate')) {
          const certificate = certificateOf(element);
          if (certificate === null)
            report('has a certificate that is not one of RSA with 2048 bits or more', element);
          else if (!found.some(({ pem }) => pem === certificate.pem)) found.push(certificate);
        }
      }
    }
  }
  if (found.length === 0) report('has no certificate that its messages could be signed with', role);
  return found;
}

function certificateOf(element: XmlElement): ProviderCertificate | null {
  const base64 = (textOf(element) ?? '').replaceAll(/\s/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return null;
  const pem = `-----BEGIN CERTIFICATE-----\n${base64.replaceAll(/.{1,64}/g, '$&\n')}-----END CERTIFICATE-----\n`;
  const read = readRsaCertificate(pem);
  return read === null ? null : { pem, subject: read.subject, fromMs: read.fromMs, untilMs: read.untilMs };
}

function endpointOf(role: XmlElement, local: string, report: Reporter): Endpoint | null {
  const found: Endpoint[] = [];
  for (const element of elementsOf(role).filter((child) => isNamed(child, NS.metadata, local))) {
    const binding = attributeOf(element, 'Binding');
    const known = binding === BINDING.redirect ? 'redirect' : binding === BINDING.post ? 'post' : null;
    if (known === null) continue;
    const url = attributeOf(element, 'Location') ?? '';
    const responseUrl = attributeOf(element, 'ResponseLocation') ?? url;
    if (isServiceUrl(url) && isServiceUrl(responseUrl)) found.push({ binding: known, url, responseUrl });
    else report(`has a <${local}> whose location is no http or https URL`, element);
  }
  return found.find(({ binding }) => binding === 'redirect') ?? found[0] ?? null;
}

/** An absolute URL of http or https, without a fragment, user or anything that a browser could read as two. */
function isServiceUrl(text: string): boolean {
  if (!/^https?:\/\/[!-~]+$/.test(text) || /["<>\\^`{|}#]/.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}
