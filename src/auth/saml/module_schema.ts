import * as z from 'zod';
import { serviceAddresses } from './addresses.ts';
import { NAME_ID_FORMATS } from './name_id.ts';
import { type ModuleApi, enabled, session, textList } from '../../filters/module_fields_schema.ts';

export const saml = z
  .strictObject({
    enabled,
    ...session,
    idp_metadata: z.string().min(1).describe('The full XML EntityDescriptor of the identity provider.'),
    force_authn: z
      .boolean()
      .default(false)
      .describe(
        'Whether users must enter credentials on every login, even within a session of the provider.',
      ),
    allow_idp_initiated: z
      .boolean()
      .default(false)
      .describe('Whether the identity provider may start a login, with the destination in RelayState.'),
    authorized_groups: textList('A user needs one of these groups; empty allows every user who can log in.'),
    nameid_format: z
      .enum(NAME_ID_FORMATS)
      .default('urn:oasis:names:tc:SAML:2.0:nameid-format:persistent')
      .describe('Name identifier format that assertions must have.'),
  })
  .describe('Requires a login at a SAML identity provider.');

export type SamlConfig = z.output<typeof saml>;

/** Responses show the URLs of the service provider, and the certificate of its key. */
export const samlApi: ModuleApi = {
  shown: {
    schema: saml.extend({
      entity_id: z.string().describe('Id of the service provider, a URL.'),
      assertion_consumer_service_url: z.string().describe('URL for assertions.'),
      single_logout_url: z.string().describe('URL for logouts.'),
      request_signing_certificate_pem: z.string().describe('Certificate of the key that signs requests.'),
      metadata_url: z.string().describe("URL of the service provider's metadata."),
      idp_metadata_url: z.string().describe('Always empty.'),
    }),
    show: (config, { id, service, samlCertificate }) => {
      const { entityId, acsUrl, sloUrl } = serviceAddresses(service, id);
      return {
        cookie_prefix: '',
        ...config,
        entity_id: entityId,
        assertion_consumer_service_url: acsUrl,
        single_logout_url: sloUrl,
        request_signing_certificate_pem: samlCertificate(id),
        metadata_url: entityId,
        idp_metadata_url: '',
      };
    },
  },
};
