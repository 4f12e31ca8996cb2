import * as z from 'zod';
import { enabled, session, textList } from '../../filters/module_fields_schema.ts';

export const oidc = z
  .strictObject({
    enabled,
    ...session,
    issuer: z
      .string()
      .regex(/^https?:\/\/[^\s?#]+$/)
      .meta({
        description: 'URL of the OpenID provider, used for discovery.',
        form: "an http or https URL such as 'https://login.example.test'",
      }),
    client_id: z.string().min(1).describe("The app's client id, which is also the audience of its tokens."),
    client_secret: z.string().min(1).describe("The app's client secret."),
    scopes: textList('Scopes to request.'),
  })
  .describe('Requires a login at an OpenID provider.');

export type OidcConfig = z.output<typeof oidc>;
