import * as z from 'zod';

/** Content codings that a policy can name; zstd (RFC 8878) is our addition. */
const ALGORITHMS = ['gzip', 'deflate', 'br', 'compress', 'zstd'] as const;

export const compressResponse = z
  .strictObject({
    algorithms: z
      .array(z.enum(ALGORITHMS).meta({ codes: { choice: 2214 } }))
      .min(1)
      .default(['gzip', 'deflate', 'br', 'compress', 'zstd'])
      .meta({
        description: 'Codings to choose from, in order of preference, without duplicates.',
        uniqueItems: true,
      }),
  })
  .describe('Compresses the response if the client accepts it.');

export type CompressResponseConfig = z.output<typeof compressResponse>;
