import * as z from 'zod';
import { AUTHORITIES_LIMIT } from './algorithm.ts';
import { type ModuleApi, enabled } from '../module_fields_schema.ts';

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

const { certificate_authority_ids: authorities } = mutualTls.shape;

/** A request with too many authorities has an error of its own; in an edge file the check reports them. */
export const mutualTlsApi: ModuleApi = {
  schema: mutualTls
    .extend({ certificate_authority_ids: authorities.max(AUTHORITIES_LIMIT) })
    .describe(mutualTls.description!),
};
