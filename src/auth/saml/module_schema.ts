import * as z from 'zod';
import { NAME_ID_FORMATS } from './name_id.ts';
import { enabled, session, textList } from '../../filters/module_fields_schema.ts';

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
    authorized_groups: textList('Groups of which a user needs one; empty allows every user who can log in.'),
    nameid_format: z
      .enum(NAME_ID_FORMATS)
      .default('urn:oasis:names:tc:SAML:2.0:nameid-format:persistent')
      .describe('Name identifier format that assertions must have.'),
  })
  .describe('Requires a login at a SAML identity provider.');

export type SamlConfig = z.output<typeof saml>;
