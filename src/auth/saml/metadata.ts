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

/** Where a service of the identity provider is. */
interface Endpoint {
  readonly binding: Binding;
  readonly url: string;
  /** Where answers go, when it is somewhere else. */
  readonly responseUrl: string;
}

/** An identity provider as its metadata describes it (SAML Metadata §2.4.3). */
export interface ProviderMetadata extends ProviderCertificates {
  readonly entityId: string;
  /** The redirect binding before the other. */
  readonly singleSignOn: Endpoint;
  /** Null when it has none that can be used. */
  readonly singleLogout: Endpoint | null;
  /** When the metadata itself ends; null when it does not say. */
  readonly validUntilMs: number | null;
}

/** What is wrong with metadata: the end of a sentence about it, and the offset in its text. */
export interface MetadataProblem {
  readonly message: string;
  readonly offset: number;
}

const METADATA_LIMIT_CHARS = 1_048_576;

/** Reads the metadata of one identity provider strictly; all problems at once. */
export function readMetadata(
  xml: string,
): ProviderMetadata | { readonly problems: readonly MetadataProblem[] } {
  const root = readXml(xml.replace(/^\u{feff}/u, ''), { limitChars: METADATA_LIMIT_CHARS, comments: 'skip' });
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

/** Narrows what `readMetadata` gave. */
export function isMetadataProblem(
  read: ReturnType<typeof readMetadata>,
): read is { readonly problems: readonly MetadataProblem[] } {
  return 'problems' in read;
}

/** Whether the metadata says itself that it counts no more (Metadata §2.3.2). */
export function hasEnded({ validUntilMs }: ProviderMetadata, nowMs: number): boolean {
  return validUntilMs !== null && nowMs >= validUntilMs;
}

/** What is wrong with certificates at `nowMs`: their time is no reason to refuse them, but it may be meant so. */
export function metadataWarnings({ certificates }: ProviderMetadata, nowMs: number): readonly string[] {
  return certificates.flatMap(({ subject, fromMs, untilMs }) => {
    const name = inOneLine(subject);
    if (nowMs >= untilMs) return [`the certificate of ${name} has expired on ${writeDay(untilMs)}`];
    if (nowMs < fromMs) return [`the certificate of ${name} is not valid before ${writeDay(fromMs)}`];
    return [];
  });
}

/** A subject as one line of a message. */
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
