import * as z from 'zod';
import { duration, headers } from './request_schema.ts';

/** The schema of scripted upstreams in scenarios; `schema.ts` describes how such schemas are used. */

const answerParts = z.strictObject({
  status: z.int().min(101).max(599).optional().describe('Default 200.'),
  headers: headers.optional().describe('Fields of the response.'),
  body: z.string().optional().describe('Body of the response.'),
  json: z.unknown().optional().describe('Body of the response, as data.'),
  latency: z
    .union([
      duration,
      z
        .strictObject({ from: duration.describe('Least.'), to: duration.describe('Most.') })
        .describe('Drawn uniformly.'),
    ])
    .optional()
    .describe('Time until the response head.'),
  fault: z
    .enum(['hang', 'reset', 'half', 'refuse', 'invalid'])
    .optional()
    .describe(
      'Fault instead of a response: no answer, reset, broken body, refused connection, invalid data.',
    ),
  key_set: z
    .boolean()
    .optional()
    .describe('Whether the body is the key set with which tokens of `jwt` are verified.'),
});

const stub = answerParts
  .extend({
    path: z
      .string()
      .optional()
      .describe(
        'Path of the requests that it answers, without query; with `*` at the end, all paths that begin so.',
      ),
    method: z.string().optional().describe('Method of the requests that it answers.'),
    chance: z.number().min(0).max(1).optional().describe('Probability that it answers; default 1.'),
  })
  .describe('A response to some requests; inherits from the response beside it.');

export const answer = answerParts
  .extend({
    stubs: z
      .array(stub)
      .min(1)
      .optional()
      .describe('Responses to some requests; the first that matches answers.'),
    workers: z
      .int()
      .min(1)
      .optional()
      .describe('Requests that it handles at once; others wait, which adds to their latency.'),
    sequence: z
      .array(z.unknown())
      .min(1)
      .optional()
      .describe('Responses in order, each a status, a fault or a map like this one.'),
    afterwards: z
      .enum(['last', 'again'])
      .optional()
      .describe('After the sequence: its last response, or the sequence again.'),
  })
  .meta({ id: 'answer', description: 'Response of an upstream.' });

export const upstream = z
  .union([z.string(), z.number(), answer])
  .describe('Response of an upstream: a status, a fault, or a map.');

export const upstreams = z.record(z.string(), upstream).meta({
  id: 'upstreams',
  description: 'Scripted upstreams by backend; control requests by URL or URL prefix.',
});
