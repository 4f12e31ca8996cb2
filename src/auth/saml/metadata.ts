import { writeDay } from '../../datetime/texts.ts';
import { NS, attributeOf, elementsOf, isNamed } from './elements.ts';
import { type ProviderCertificates, certificatesOf } from './metadata_certificates.ts';
import { providerEntity } from './metadata_entity.ts';
import { isXmlProblem, readXml } from './xml.ts';
import type { XmlElement } from './xml_tree.ts';

export const BINDING = {
  redirect: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect',
  post: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST',
} as const;

type Binding = keyof typeof BINDING;

/** A service endpoint of the identity provider. */
interface Endpoint {
  readonly binding: Binding;
  readonly url: string;
  /** URL for responses; equals `url` unless specified. */
  readonly responseUrl: string;
}

/** An identity provider according to its metadata (SAML Metadata §2.4.3). */
export interface ProviderMetadata extends ProviderCertificates {
  readonly entityId: string;
  /** The endpoint with the redirect binding is preferred. */
  readonly singleSignOn: Endpoint;
  /** Null if no endpoint has a supported binding. */
  readonly singleLogout: Endpoint | null;
  /** When the metadata expires; null if it does not say. */
  readonly validUntilMs: number | null;
}

/** A problem of metadata: the predicate of a sentence, and its offset in the text. */
export interface MetadataProblem {
  readonly message: string;
  readonly offset: number;
}

/** The operator chooses the metadata, and that of a group may be long. */
const METADATA_LIMITS = { limitChars: 1_048_576, limitElements: 8_192 };

/** Parses the metadata of one identity provider strictly; reports all problems at once. */
export function readMetadata(
  xml: string,
): ProviderMetadata | { readonly problems: readonly MetadataProblem[] } {
  const root = readXml(xml.replace(/^\u{feff}/u, ''), { ...METADATA_LIMITS, comments: 'skip' });
  if (isXmlProblem(root)) return { problems: [{ message: root.message, offset: root.offset }] };
  const problems: MetadataProblem[] = [];
  const report = (message: string, at: XmlElement): void => {
    problems.push({ message, offset: at.offset });
  };
  const found = providerEntity(root, report);
  if (found === null) return { problems };
  const { entity, role, validUntilMs } = found;
  const entityId = attributeOf(entity, 'entityID') ?? '';
  if (entityId === '' || entityId.length > 1024) report("has no usable 'entityID'", entity);
  const { certificates, passedOver } = certificatesOf(role, report);
  const singleSignOn = endpointOf(role, 'SingleSignOnService', report);
  const singleLogout = endpointOf(role, 'SingleLogoutService', report);
  if (singleSignOn === null) {
    report('has no <SingleSignOnService> with the HTTP-Redirect or the HTTP-POST binding', role);
  }
  if (problems.length > 0 || singleSignOn === null) return { problems };
  return { entityId, certificates, passedOver, singleSignOn, singleLogout, validUntilMs };
}

/** Narrows the result of `readMetadata`. */
export function isMetadataProblem(
  read: ReturnType<typeof readMetadata>,
): read is { readonly problems: readonly MetadataProblem[] } {
  return 'problems' in read;
}

/** Whether the metadata has expired (Metadata §2.3.2). */
export function hasEnded({ validUntilMs }: ProviderMetadata, nowMs: number): boolean {
  return validUntilMs !== null && nowMs >= validUntilMs;
}

/**
 * Warnings about certificates outside their validity period; SAML does not require it, but it may be a
 * mistake.
 */
export function metadataWarnings({ certificates }: ProviderMetadata, nowMs: number): readonly string[] {
  return certificates.flatMap(({ subject, fromMs, untilMs }) => {
    const name = inOneLine(subject);
    if (nowMs >= untilMs) return [`the certificate of ${name} expired on ${writeDay(untilMs)}`];
    if (nowMs < fromMs) return [`the certificate of ${name} is not valid before ${writeDay(fromMs)}`];
    return [];
  });
}

/** A subject on a single line. */
export function inOneLine(subject: string): string {
  return subject.replaceAll('\n', ', ');
}

type Reporter = (message: string, at: XmlElement) => void;

function endpointOf(role: XmlElement, local: string, report: Reporter): Endpoint | null {
  const found: Endpoint[] = [];
  for (const element of elementsOf(role).filter((child) => isNamed(child, NS.metadata, local))) {
    const binding = attributeOf(element, 'Binding');
    const known = binding === BINDING.redirect ? 'redirect' : binding === BINDING.post ? 'post' : null;
    if (known === null) continue;
    const url = attributeOf(element, 'Location') ?? '';
    const responseUrl = attributeOf(element, 'ResponseLocation') ?? url;
    if (isServiceUrl(url) && isServiceUrl(responseUrl)) found.push({ binding: known, url, responseUrl });
    else report(`has a <${local}> whose location is not an http or https URL`, element);
  }
  return found.find(({ binding }) => binding === 'redirect') ?? found[0] ?? null;
}

/** An absolute http or https URL without fragment, user, or ambiguous characters. */
function isServiceUrl(text: string): boolean {
  if (!/^https?:\/\/[!-~]+$/.test(text) || /["<>\\^`{|}#]/.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}
