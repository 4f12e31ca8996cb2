import * as z from 'zod';
import { enabled } from '../module_fields_schema.ts';

export const mutualTls = z
  .strictObject({
    enabled,
    certificate_authority_ids: z
      .array(z.string().min(1))
      .min(1)
      .describe(
        'Names of 1 to 10 certificate authorities; the client certificate must be issued by one of them.',
      ),
  })
  .describe('Requires a valid client certificate in the TLS handshake.');

export type MutualTlsConfig = z.output<typeof mutualTls>;
