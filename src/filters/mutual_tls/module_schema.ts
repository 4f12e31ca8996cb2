import * as z from 'zod';
import { enabled } from '../module_fields_schema.ts';

export const mutualTls = z
  .strictObject({
    enabled,
    certificate_authority_ids: z
      .array(z.string().min(1))
      .min(1)
      .describe('Names of 1 to 10 certificate authorities; a client needs a certificate of one of them.'),
  })
  .describe('Asks clients for a certificate, in the handshake; without a good one there is no connection.');

export type MutualTlsConfig = z.output<typeof mutualTls>;
