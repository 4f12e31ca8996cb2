import * as z from 'zod';
import { type ModuleApi, enabled, session, textList } from '../../filters/module_fields_schema.ts';

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

/** Responses show the prefix even if it is the default. */
export const oidcApi: ModuleApi = {
  shown: { schema: oidc, show: (config) => ({ cookie_prefix: '', ...config }) },
};
