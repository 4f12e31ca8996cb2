import * as z from 'zod';

export const removeHeaders = z
  .strictObject({
    headers: z
      .array(z.string().min(1).meta({ kind: 'header_name' }))
      .min(1)
      .max(10)
      .meta({
        description: 'Names of headers to remove, 1 to 10, case-insensitive.',
        codes: { too_many: 2212 },
      }),
  })
  .describe('Removes all values of headers from the request or the response.');

export type RemoveHeadersConfig = z.output<typeof removeHeaders>;
