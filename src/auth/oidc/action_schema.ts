import * as z from 'zod';
import { neededTemplate } from '../../filters/action_fields_schema.ts';
import { clientId, clientSecret, loginSynonyms, loginSession } from '../action_login_schema.ts';

export const openidConnect = z
  .strictObject({
    issuer_url: neededTemplate('URL of the OpenID provider.', { kind: 'url' }),
    client_id: clientId.meta({ codes: { missing: 385 } }),
    client_secret: clientSecret.meta({ codes: { missing: 386 } }),
    ...loginSession,
  })
  .meta({ description: 'Requires a login at an OpenID provider.', synonyms: loginSynonyms });

export type OpenidConnectConfig = z.output<typeof openidConnect>;
