import * as z from 'zod';

export const log = z
  .strictObject({
    metadata: z.record(z.string(), z.json()).meta({
      description: "Record for the event's logs; `${…}` in strings is evaluated.",
      kind: 'data',
      template: true,
      minProperties: 1,
    }),
  })
  .describe('Adds a record to the event of the request.');

export type LogConfig = z.output<typeof log>;
