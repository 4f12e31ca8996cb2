import * as z from 'zod';
import type { TrafficPolicyInput } from '../../policy/document/schema.ts';
import { trafficPolicy } from '../../policy/module_schema.ts';

/** A phase; its rules are checked by the language of policies. */
function phase<Phase extends keyof TrafficPolicyInput>(when: string) {
  const rules = z.array(z.unknown()).optional().describe(`Rules that run ${when}.`);
  return rules as unknown as z.ZodType<TrafficPolicyInput[Phase], TrafficPolicyInput[Phase]>;
}

/** A traffic policy as a file has it; `value` is what it becomes. */
export const writtenPolicy = z
  .strictObject({
    enabled: trafficPolicy.shape.enabled,
    value: trafficPolicy.shape.value.optional(),
    file: z.string().min(1).optional().meta({
      description: 'File with the policy in YAML or JSON, relative to the file that names it.',
      shorthand: '\\.(?:ya?ml|json)$',
    }),
    on_tcp_connect: phase<'on_tcp_connect'>('when a connection is opened').optional(),
    on_http_request: phase<'on_http_request'>('on a request before it goes to the upstream').optional(),
    on_http_response: phase<'on_http_response'>('on a response before it goes to the client').optional(),
    on_event_stream_message: phase<'on_event_stream_message'>(
      'on each message of an event stream',
    ).optional(),
  })
  .describe(
    'Applies the rules of a traffic policy: its phases, the name of its `file`, or its text in `value`.',
  )
  .optional();
