import * as z from 'zod';
import { agents } from './agent_schema.ts';
import { nodesChange } from './nodes_schema.ts';
import { duration, request } from './request_schema.ts';
import { upstreams } from './upstream_schema.ts';

/** The schema of arriving requests in scenarios; `schema.ts` describes how such schemas are used. */

export const simulation = z
  .strictObject({
    duration: duration.describe('Duration of the arrivals.'),
    arrivals: z
      .array(
        z
          .strictObject({
            request: z.union([z.string(), request]).optional().describe('The arriving request.'),
            rate: z
              .union([
                z.number().min(0.000_001).max(1_000_000),
                z
                  .array(
                    z.strictObject({
                      at: duration.describe('Time since the start of the run.'),
                      rate: z.number().min(0).max(1_000_000).describe('Requests per second from then on.'),
                      ramp: z
                        .boolean()
                        .optional()
                        .describe('Whether the rate changes evenly from the point before; default at once.'),
                    }),
                  )
                  .min(1),
              ])
              .optional()
              .describe('Requests per second, on average: one number, or points in the order of time.'),
            log: z
              .string()
              .optional()
              .describe('A recording or log beside this file: its times, and its requests if none is given.'),
            speed: z
              .number()
              .min(0.001)
              .max(1_000)
              .optional()
              .describe('How many times faster the requests of a log arrive; default 1.'),
            model: z
              .enum(['poisson', 'constant'])
              .optional()
              .describe('Poisson: independent (default); constant: evenly spaced.'),
            from: duration.optional().describe('Start of the arrivals; default the start of the run.'),
            until: duration.optional().describe('End of the arrivals; default the end of the run.'),
          })
          .describe('Requests that arrive independently of earlier responses.'),
      )
      .min(1)
      .describe('Arriving requests and their rates.'),
    changes: z
      .array(
        z
          .strictObject({
            at: duration.describe('When.'),
            upstreams: upstreams.optional(),
            agents: agents.optional(),
            ...nodesChange,
          })
          .describe('Changes of upstreams, agents and nodes during the run.'),
      )
      .optional()
      .describe('Scripted faults.'),
  })
  .describe('A run in virtual time, for the command sim.');
