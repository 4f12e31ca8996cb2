import * as z from 'zod';
import { duration } from '../filters/action_fields_schema.ts';

/** Common fields of the login actions (oauth, openid-connect). */

export const clientId = z.string().min(1).meta({ description: "The app's client id.", template: true });

export const clientSecret = z
  .string()
  .min(1)
  .meta({ description: "The app's client secret.", template: true, secret: true });

/** At least two labels: browsers reject cookies for a single one (RFC 6265 §5.3). */
const DOMAIN = /^\.?(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z][A-Za-z0-9-]*$/;

export const loginSession = {
  auth_id: z
    .string()
    .min(1)
    .optional()
    .describe('Name of this login, for its cookie and the login and logout paths.'),
  scopes: z.array(z.string().min(1)).default([]).meta({
    description: 'Scopes to request.',
    uniqueItems: true,
  }),
  authz_url_params: z
    .record(z.string(), z.string())
    .default({})
    .describe('Additional parameters of the authorization URL.'),
  max_session_duration: duration('Maximum duration of a session.').optional(),
  idle_session_duration: duration('Time without requests after which a session ends.').optional(),
  userinfo_refresh_interval: duration("Time after which the user's identity is read again.").optional(),
  allow_cors_preflight: z
    .boolean()
    .default(false)
    .describe('Whether CORS preflight requests (OPTIONS) pass without a login.'),
  auth_cookie_domain: z
    .string()
    .min(1)
    .regex(DOMAIN)
    .optional()
    .meta({
      description: 'Domain of the session cookie.',
      form: 'a domain name such as example.com',
      codes: { form: 2243 },
    }),
};

/** Both names are in use: openid-connect is documented with one, oauth with the other. */
export const loginSynonyms = { idle_session_timeout: 'idle_session_duration' };
