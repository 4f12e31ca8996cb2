import * as z from 'zod';
import type { Body, Completed, Draft } from './contract.ts';
import { notes, refs, resource } from './fields.ts';
import { ApiProblem, COMMON, refusedValue } from './problem.ts';

export const sourceSchema = z
  .strictObject({
    type: z.string().min(1).describe('Event type that triggers the subscription.'),
    filter: z.string().optional().describe('Expression over ev; only for traffic events.'),
    fields: z.array(z.string()).optional().describe('Fields to capture, default all; traffic events only.'),
    sample_rate: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe('Share of the matching events to capture, default 1; traffic events only.'),
  })
  .describe('One event type, and the captured fields.');

/** What of a source can be changed. */
export const sourceUpdateSchema = sourceSchema.omit({ type: true });

/** Throws if a source is invalid; `pointer` is its place. */
export function checkSource(source: Body, pointer: string, ports: Draft['ports']): void {
  const problem = ports.sourceProblem(source);
  if (problem === null) return;
  const { number, key, index, message } = problem;
  throw refusedValue(number, `${pointer}/${key}${index === undefined ? '' : `/${index}`}`, message);
}

/** The uri of a source, below that of its subscription. */
export function showSource(source: Body, subscriptionUri: string): Body {
  return { ...source, uri: `${subscriptionUri}/sources/${String(source['type'])}` };
}

function completeSubscription({ body, given, ports }: Draft): Completed {
  if (given['sources'] !== undefined) {
    const sources = body['sources'] as readonly Body[];
    for (const [index, source] of sources.entries()) {
      checkSource(source, `/sources/${index}`, ports);
      if (sources.findIndex((other) => other['type'] === source['type']) < index) {
        throw new ApiProblem(409, COMMON.badValue, 'A subscription must not have two sources of one type.', {
          pointer: `/sources/${index}/type`,
        });
      }
    }
  }
  return { body };
}

export const eventSubscriptions = resource({
  kind: 'event_subscription',
  title: 'event subscription',
  path: '/event_subscriptions',
  prefix: 'esb',
  listKey: 'event_subscriptions',
  fields: {
    ...notes(),
    sources: {
      write: {
        schema: z.array(sourceSchema).describe('Events that trigger the subscription.'),
        create: 'optional',
        update: 'keeps',
        standard: [],
      },
      read: {
        schema: z.array(sourceSchema.extend({ uri: z.string() })),
        show: (sources, { id, refOf }) =>
          (sources as readonly Body[]).map((source) => showSource(source, refOf(id).uri)),
      },
    },
    destination_ids: refs('destinations', 'Destinations of the events.', {
      kinds: ['event_destination'],
      missing: 6006,
      standard: [],
    }),
  },
  complete: completeSubscription,
});
