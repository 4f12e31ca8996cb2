import * as z from 'zod';
import { clientId, clientSecret, loginSynonyms, loginSession } from '../action_login_schema.ts';

const OAUTH_PROVIDERS = [
  'amazon',
  'facebook',
  'github',
  'gitlab',
  'google',
  'linkedin',
  'microsoft',
  'twitch',
] as const;

export const oauth = z
  .strictObject({
    provider: z.enum(OAUTH_PROVIDERS).describe('The identity provider.'),
    client_id: clientId.optional(),
    client_secret: clientSecret.optional(),
    ...loginSession,
  })
  .meta({ description: 'Requires a login at an OAuth provider.', synonyms: loginSynonyms });

export type OauthConfig = z.output<typeof oauth>;
