import * as z from 'zod';

/** The schema of expectations. */

export const scalar = z.union([z.string(), z.number(), z.boolean()]);

export const matcher = z
  .strictObject({
    equals: scalar.optional().describe('Exactly equal to this value.'),
    not: scalar.optional().describe('Not equal to this value.'),
    contains: z.string().optional().describe('Contains this text.'),
    not_contains: z.string().optional().describe('Does not contain this text.'),
    matches: z.string().optional().describe('Matches this RE2 pattern somewhere.'),
    not_matches: z.string().optional().describe('Does not match this RE2 pattern anywhere.'),
    starts_with: z.string().optional().describe('Starts with this text.'),
    ends_with: z.string().optional().describe('Ends with this text.'),
    one_of: z.array(scalar).min(1).optional().describe('Equal to one of these values.'),
    at_least: z.number().optional().describe('A number of at least this.'),
    at_most: z.number().optional().describe('A number of at most this.'),
    absent: z.boolean().optional().describe('Whether the value is absent.'),
  })
  .meta({ id: 'matcher', description: 'Conditions that must all be met.' });

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
    detail: z.record(z.string(), expectedValue).optional().describe('Details of the step.'),
  })
  .meta({
    id: 'because',
    description: 'A step that must be in the trace; omitted members match anything.',
  });

export const upstreamSaw = z
  .strictObject({
    backend: expectedValue.optional().describe('Backend that was reached.'),
    method: expectedValue.optional().describe('Method that the upstream received.'),
    path: expectedValue.optional().describe('Path that the upstream received.'),
    query: expectedValue.optional().describe('Query that the upstream received, without the question mark.'),
    headers: z
      .record(z.string(), expectedValue)
      .optional()
      .describe('Header fields that the upstream received.'),
    body: expectedValue.optional().describe('Body that the upstream received.'),
    json: z.unknown().optional().describe('Body that the upstream received, as data; a subset.'),
    attempts: z.int().min(0).optional().describe('Number of attempts at upstreams.'),
  })
  .describe('The request that the last upstream received.');

const counts = z
  .record(z.string(), z.union([z.int().min(0), matcher]))
  .describe('Number of requests by status, or conditions of it; all requests are counted.');

export const fetchSent = z
  .strictObject({
    method: expectedValue.optional().describe('Method.'),
    url: expectedValue.optional().describe('URL.'),
    headers: z.record(z.string(), expectedValue).optional().describe('Header fields.'),
    body: expectedValue.optional().describe('Body.'),
    json: z.unknown().optional().describe('Body as data: a subset, or values by paths such as `$.a[0]`.'),
  })
  .describe('A request that the edge has made itself, such as that of `http-request`.');

export const expectation = z
  .strictObject({
    status: z
      .union([z.int(), z.string(), z.array(z.int()).min(1), matcher])
      .optional()
      .meta({
        description: 'Status of the response, a list of allowed ones, or `none` for no response.',
        shorthand: '^[1-5](?:\\d\\d|[xX]{2})$',
      }),
    headers: z.record(z.string(), expectedValue).optional().describe('Fields of the response.'),
    body: expectedValue.optional().describe('Body of the response, before compression.'),
    json: z
      .unknown()
      .optional()
      .describe('Body of the response, as data: a subset, or values by paths such as `$.user.roles[0]`.'),
    backend: z.string().optional().describe('Backend that responded, or `none`.'),
    agent: z.string().optional().describe('Agent through whose tunnel it responded, or `none`.'),
    upstream: z
      .union([z.string(), upstreamSaw])
      .optional()
      .describe('The request that the upstream received, or `none` if none was reached.'),
    event: z.record(z.string(), expectedValue).optional().describe('Fields of the event by dotted name.'),
    connection: z
      .enum(['allowed', 'denied'])
      .optional()
      .describe('Whether a backend accepted the connection, in a case with `connect`.'),
    because: z
      .union([z.string(), because, z.array(because)])
      .optional()
      .describe('Steps of the trace: reason codes, or maps with their members.'),
    not_because: z
      .union([z.string(), because, z.array(z.union([z.string(), because]))])
      .optional()
      .describe(
        'Steps that must not be in the trace, such as `{ rule: admins }` for a rule that did not apply.',
      ),
    expressions: z
      .array(z.string())
      .optional()
      .describe('Expressions as in policies, on the request and its response; each has to be true.'),
    fetches: z
      .union([z.int().min(0), z.array(fetchSent)])
      .optional()
      .describe('Requests that the edge has made itself: their number, or each of them in order.'),
    decisions: z
      .record(z.string(), z.string())
      .optional()
      .describe('Decisions of modules by name: allow, block, allow_while_open, or not_run.'),
    logs: z
      .union([z.int(), z.array(z.unknown())])
      .optional()
      .describe('Logs of the traffic policy: their number, or the metadata of each, a subset.'),
    duration: expectedValue.optional().describe('Virtual milliseconds until the response.'),
    counts: counts.optional(),
  })
  .meta({ id: 'expectation', description: 'The expectations.' });
