import * as z from 'zod';

/** What scenarios may expect. */

export const scalar = z.union([z.string(), z.number(), z.boolean()]);

export const matcher = z
  .strictObject({
    equals: scalar.optional().describe('Equal to this, and to nothing else.'),
    not: scalar.optional().describe('Not equal to this.'),
    contains: z.string().optional().describe('Holds this text.'),
    not_contains: z.string().optional().describe('Does not hold this text.'),
    matches: z.string().optional().describe('An RE2 pattern matches some of it.'),
    not_matches: z.string().optional().describe('An RE2 pattern matches none of it.'),
    starts_with: z.string().optional().describe('Begins with this text.'),
    ends_with: z.string().optional().describe('Ends with this text.'),
    one_of: z.array(scalar).min(1).optional().describe('Equal to one of these.'),
    at_least: z.number().optional().describe('A number that is not below this.'),
    at_most: z.number().optional().describe('A number that is not above this.'),
    absent: z.boolean().optional().describe('Whether it is not there.'),
  })
  .meta({ id: 'matcher', description: 'Conditions, all of which must hold.' });

export const expectedValue = z.union([scalar, z.array(scalar), matcher]).meta({
  id: 'expected_value',
  description: 'A value to be equal to, `absent`, a list of values in order, or conditions.',
});

export const because = z
  .strictObject({
    phase: z
      .enum(['route', 'connection', 'request', 'upstream', 'response', 'end'])
      .optional()
      .describe('Phase of the step.'),
    module: z.string().optional().describe('Module that decided.'),
    verdict: z.enum(['pass', 'stop']).optional().describe('Whether it let the request pass.'),
    code: z.string().optional().describe('Reason code, such as `ip_restriction.denied`.'),
    reason: z.string().optional().describe('Reason code without the name of the module.'),
    rule: z.string().optional().describe('Rule that decided, by name.'),
    action: z.string().optional().describe('Type of the action that decided.'),
    says: expectedValue.optional().describe('The sentence.'),
    detail: z.record(z.string(), expectedValue).optional().describe('Facts of the step.'),
  })
  .meta({
    id: 'because',
    description: 'A step that must be in the trace; what is left out may be anything.',
  });

export const upstreamSaw = z
  .strictObject({
    backend: expectedValue.optional().describe('Backend that was reached.'),
    method: expectedValue.optional().describe('Method that it saw.'),
    path: expectedValue.optional().describe('Path that it saw.'),
    query: expectedValue.optional().describe('Query that it saw, without the question mark.'),
    headers: z.record(z.string(), expectedValue).optional().describe('Fields that it saw.'),
    body: expectedValue.optional().describe('Body that it saw.'),
    json: z.unknown().optional().describe('Body that it saw, as data; a subset.'),
    attempts: z.int().min(0).optional().describe('Upstreams that were tried.'),
  })
  .describe('What the last upstream saw.');

const counts = z
  .record(z.string(), z.int().min(0))
  .describe('How many requests ended with each status; all of them are counted.');

export const expectation = z
  .strictObject({
    status: z
      .union([z.int(), z.string(), z.array(z.int()).min(1), matcher])
      .optional()
      .describe('Status of the response, a list of those allowed, or `none` when there is no response.'),
    headers: z.record(z.string(), expectedValue).optional().describe('Fields of the response.'),
    body: expectedValue.optional().describe('Body of the response, before compression.'),
    json: z.unknown().optional().describe('Body of the response, as data; a subset.'),
    backend: z.string().optional().describe('Backend that answered, or `none`.'),
    upstream: z
      .union([z.string(), upstreamSaw])
      .optional()
      .describe('What the upstream saw, or `none` when none was reached.'),
    event: z.record(z.string(), expectedValue).optional().describe('Fields of the event, dotted.'),
    connection: z
      .enum(['allowed', 'denied'])
      .optional()
      .describe('Whether a backend took the connection, in a case that connects.'),
    because: z
      .union([z.string(), because, z.array(because)])
      .optional()
      .describe('Steps of the trace: a reason code, or maps of what is known of them.'),
    decisions: z
      .record(z.string(), z.string())
      .optional()
      .describe('Decision of modules by name: allow, block, allow_while_open, or not_run.'),
    logs: z
      .union([z.int(), z.array(z.unknown())])
      .optional()
      .describe('Logs of the traffic policy: how many, or the metadata of each, a subset.'),
    duration: expectedValue.optional().describe('Virtual milliseconds until the response.'),
    counts: counts.optional(),
  })
  .meta({ id: 'expectation', description: 'What must hold.' });
