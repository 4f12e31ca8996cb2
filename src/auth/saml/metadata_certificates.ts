import { certificateSubject, readRsaCertificate } from '../../crypto/x509.ts';
import { NS, attributeOf, childrenOf, textOf } from './elements.ts';
import type { XmlElement } from './xml_tree.ts';

interface ProviderCertificate {
  readonly pem: string;
  readonly subject: string;
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface ProviderCertificates {
  /** Certificates that verify signatures. */
  readonly certificates: readonly ProviderCertificate[];
  /** Subjects of ignored certificates: not RSA, or the key is too short. */
  readonly passedOver: readonly string[];
}

/** The signing certificates of a role; an unparsable certificate is a problem. */
export function certificatesOf(
  role: XmlElement,
  report: (message: string, at: XmlElement) => void,
): ProviderCertificates {
  const certificates: ProviderCertificate[] = [];
  const passedOver: string[] = [];
  for (const element of certificateElements(role)) {
    const pem = pemOf(element);
    const subject = pem === null ? null : certificateSubject(pem);
    if (pem === null || subject === null) {
      report('has a certificate that cannot be read', element);
      continue;
    }
    const read = readRsaCertificate(pem);
    if (read === null) passedOver.push(subject);
    else if (!certificates.some((known) => known.pem === pem)) {
      certificates.push({ pem, subject, fromMs: read.fromMs, untilMs: read.untilMs });
    }
  }
  if (certificates.length === 0) {
    const others = passedOver.length === 0 ? '' : '; keys of other kinds, such as EC, are not supported';
    report(`has no RSA certificate with at least 2048 bits for its signatures${others}`, role);
  }
  return { certificates, passedOver };
}

function certificateElements(role: XmlElement): readonly XmlElement[] {
  return childrenOf(role, NS.metadata, 'KeyDescriptor')
    .filter((descriptor) => {
      const use = attributeOf(descriptor, 'use');
      // A key without `use` serves both purposes (Metadata §2.4.1.1).
      return use === undefined || use === 'signing';
    })
    .flatMap((descriptor) => childrenOf(descriptor, NS.signature, 'KeyInfo'))
    .flatMap((info) => childrenOf(info, NS.signature, 'X509Data'))
    .flatMap((data) => childrenOf(data, NS.signature, 'X509Certificate'));
}

function pemOf(element: XmlElement): string | null {
  const base64 = (textOf(element) ?? '').replaceAll(/\s/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return null;
  return `-----BEGIN CERTIFICATE-----\n${base64.replaceAll(/.{1,64}/g, '$&\n')}-----END CERTIFICATE-----\n`;
}
