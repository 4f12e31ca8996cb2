import * as z from 'zod';

export const saml = z
  .strictObject({
    idp_metadata: z.string().min(1).optional().describe('Metadata of the identity provider, as XML.'),
    idp_metadata_url: z
      .string()
      .min(1)
      .optional()
      .meta({ description: 'URL of the metadata of the identity provider.', kind: 'url' }),
    force_authn: z.boolean().default(false).describe('Whether users must enter credentials at every login.'),
    allow_idp_initiated: z
      .boolean()
      .default(false)
      .describe('Whether the identity provider may start a login.'),
    authorized_groups: z
      .array(z.string().min(1))
      .default([])
      .describe('A user needs one of these groups; empty allows every user who can log in.'),
  })
  .describe('Requires a login at a SAML identity provider.');

export type SamlConfig = z.output<typeof saml>;
