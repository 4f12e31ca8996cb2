import * as z from 'zod';

export const deny = z
  .strictObject({
    status_code: z
      .int()
      .min(400)
      .max(599)
      .default(403)
      .describe('Status of the response, 400 to 599; not allowed in on_tcp_connect.'),
  })
  .describe('Rejects the request with an empty response, or closes the connection in on_tcp_connect.');

export type DenyConfig = z.output<typeof deny>;
