import * as z from 'zod';
import { enabled } from '../filters/module_fields_schema.ts';

export const trafficPolicy = z
  .strictObject({
    enabled,
    value: z.string().min(1).describe('The traffic policy: a JSON document as a string.'),
  })
  .describe('Applies the rules of a traffic policy.');

export type TrafficPolicyConfig = z.output<typeof trafficPolicy>;
