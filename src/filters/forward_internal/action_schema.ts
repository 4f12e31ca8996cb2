import * as z from 'zod';
import { neededTemplate, onError } from '../action_fields_schema.ts';

export const forwardInternal = z
  .strictObject({
    url: neededTemplate("URL of the internal endpoint, whose host ends in '.internal'.", {
      kind: 'internal_url',
    }),
    on_error: onError('halt'),
    binding: z
      .enum(['internal'])
      .default('internal')
      .describe('Binding of the endpoint: this action reaches internal ones only.'),
  })
  .describe('Forwards the request to an internal endpoint.');

export type ForwardInternalConfig = z.output<typeof forwardInternal>;
