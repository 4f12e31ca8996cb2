import * as z from 'zod';
import { neededTemplate, onError } from '../schema.ts';

export const forwardInternal = z
  .strictObject({
    url: neededTemplate("URL of the internal endpoint, whose host ends in '.internal'.", { kind: 'url' }),
    on_error: onError('halt'),
  })
  .describe('Hands the request to an internal endpoint.');

export type ForwardInternalConfig = z.output<typeof forwardInternal>;
