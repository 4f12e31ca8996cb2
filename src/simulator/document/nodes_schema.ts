import * as z from 'zod';
import { duration } from './request_schema.ts';

/** The schema of several nodes in scenarios; `schema.ts` describes how such schemas are used. */

const node = z.int().min(1).max(64);

export const nodes = z
  .strictObject({
    count: node.describe('Number of nodes, 1 to 64.'),
    limits: z
      .enum(['local', 'shared', 'divided'])
      .optional()
      .describe('Who counts for rate limits: each node (default), one state for all, or each node its part.'),
    sessions: z
      .enum(['local', 'shared'])
      .optional()
      .describe(
        'Whether nodes tell each other of logouts and revocations; default shared with shared limits.',
      ),
    when_unavailable: z
      .enum(['local', 'deny', 'allow'])
      .optional()
      .describe('What limits do at a node that is cut off from the shared state; default local.'),
    spread: z
      .enum(['random', 'round_robin', 'client'])
      .optional()
      .describe('Which node receives a request: any by the seed (default), in turn, or by the client.'),
    delay: duration
      .optional()
      .describe('Time until other nodes have a new configuration or the end of a session; default 100ms.'),
  })
  .describe('Nodes that run the edge.');

const member = z.union([node, z.enum(['state', 'store'])]);

/** What happens to nodes at one time: members of steps and changes. */
export const nodesChange = {
  cut: z
    .array(z.union([member, z.array(member).min(1)]))
    .min(1)
    .optional()
    .describe(
      'Cuts nodes, `state` or `store` off from all others, as one group or as several; replaces former cuts.',
    ),
  join: z.literal(true).optional().describe('Joins all that was cut.'),
  configure: z
    .strictObject({
      edge: z.string().min(1).describe('The new configuration: a path beside this file.'),
      on: node.optional().describe('The node at which it is written; default 1.'),
    })
    .optional()
    .describe('Writes a new configuration at one node.'),
  revoke: z
    .strictObject({
      identity: z.string().describe('Whose sessions.'),
      on: node.optional().describe('The node that revokes them; default 1.'),
    })
    .optional()
    .describe('Revokes the sessions of an identity at one node.'),
};
