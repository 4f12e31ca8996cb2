import { writeInstant } from '../../datetime/texts.ts';
import type { SigningIdentity } from '../../crypto/issue_certificate.ts';
import type { SamlAddresses } from './addresses.ts';
import { type Written, canonical, element, keyInfo } from './canonical.ts';
import { BINDING } from './metadata.ts';
import { NAME_ID_FORMATS, UNSPECIFIED } from './name_id.ts';

const PROTOCOL = 'urn:oasis:names:tc:SAML:2.0:protocol';
const STATUS = 'urn:oasis:names:tc:SAML:2.0:status:';

/** Common part of all messages (Core §3.2.1). */
interface Head {
  readonly id: string;
  readonly atMs: number;
  readonly destination: string;
  /** Entity id of the sender. */
  readonly issuer: string;
}

function headOf({ id, atMs, destination }: Head): Record<string, string> {
  return { ID: id, IssueInstant: writeInstant(atMs), Destination: destination, Version: '2.0' };
}

/** Requests a login at the identity provider (Core §3.4.1). */
export function authnRequest(
  head: Head,
  {
    acsUrl,
    forceAuthn,
    nameIdFormat,
  }: { readonly acsUrl: string; readonly forceAuthn: boolean; readonly nameIdFormat: string },
): Written {
  return element(
    'samlp:AuthnRequest',
    {
      ...headOf(head),
      AssertionConsumerServiceURL: acsUrl,
      ProtocolBinding: BINDING.post,
      ForceAuthn: forceAuthn ? 'true' : undefined,
    },
    element('saml:Issuer', {}, head.issuer),
    element('samlp:NameIDPolicy', { AllowCreate: 'true', Format: nameIdFormat }),
  );
}

/** Notifies the identity provider of a logout (Core §3.7.1). */
export function logoutRequest(
  head: Head,
  user: { readonly nameId: string; readonly nameIdFormat: string; readonly sessionIndex: string | null },
): Written {
  const format = user.nameIdFormat === UNSPECIFIED ? undefined : user.nameIdFormat;
  return element(
    'samlp:LogoutRequest',
    headOf(head),
    element('saml:Issuer', {}, head.issuer),
    element('saml:NameID', { Format: format }, user.nameId),
    user.sessionIndex === null ? null : element('samlp:SessionIndex', {}, user.sessionIndex),
  );
}

/** Replies to a logout request (Core §3.7.2). */
export function logoutResponse(head: Head, inResponseTo: string): Written {
  return element(
    'samlp:LogoutResponse',
    { ...headOf(head), InResponseTo: inResponseTo },
    element('saml:Issuer', {}, head.issuer),
    element('samlp:Status', {}, element('samlp:StatusCode', { Value: `${STATUS}Success` })),
  );
}

/** Metadata of the service provider for the identity provider (SAML Metadata §2.4.4). */
export function serviceMetadata(
  addresses: SamlAddresses,
  identity: SigningIdentity,
  nameIdFormat: string,
): string {
  const { entityId, acsUrl, sloUrl } = addresses;
  const formats = nameIdFormat === UNSPECIFIED ? NAME_ID_FORMATS : [nameIdFormat];
  const written = element(
    'md:EntityDescriptor',
    { entityID: entityId },
    element(
      'md:SPSSODescriptor',
      { AuthnRequestsSigned: 'true', WantAssertionsSigned: 'true', protocolSupportEnumeration: PROTOCOL },
      element('md:KeyDescriptor', { use: 'signing' }, keyInfo(identity)),
      element('md:SingleLogoutService', { Binding: BINDING.redirect, Location: sloUrl }),
      element('md:SingleLogoutService', { Binding: BINDING.post, Location: sloUrl }),
      ...formats.map((format) => element('md:NameIDFormat', {}, format)),
      element('md:AssertionConsumerService', {
        Binding: BINDING.post,
        Location: acsUrl,
        index: '0',
        isDefault: 'true',
      }),
    ),
  );
  return `<?xml version="1.0" encoding="UTF-8"?>\n${canonical(written)}\n`;
}
