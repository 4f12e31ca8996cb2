import * as z from 'zod';

export const log = z
  .strictObject({
    metadata: z.record(z.string(), z.json()).meta({
      description: "What to add to the event's logs; `${…}` in texts is evaluated.",
      kind: 'data',
      template: true,
      minProperties: 1,
    }),
  })
  .describe('Adds a record to the event of the request.');

export type LogConfig = z.output<typeof log>;
