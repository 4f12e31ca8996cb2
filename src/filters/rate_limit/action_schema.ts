import * as z from 'zod';
import { duration, enforce, expression } from '../action_fields_schema.ts';

const NAME_LIMIT = 1023;
const CAPACITY_LIMIT = 2_000_000_000;
const KEY_COUNT_LIMIT = 10;

export const rateLimit = z
  .strictObject({
    name: z.string().min(1).max(NAME_LIMIT).describe('Name of the limit, fewer than 1024 characters.'),
    algorithm: z.enum(['sliding_window']).describe('How requests are counted.'),
    capacity: z.int().min(1).max(CAPACITY_LIMIT).describe('Allowed requests per window, 1 to 2,000,000,000.'),
    rate: duration('Length of the window, 60s to 24h, a multiple of 10s.', {
      least: '60s',
      most: '24h',
      step: '10s',
    }),
    bucket_key: z
      .array(expression('One part of the key: an expression such as conn.client_ip.'))
      .min(1)
      .max(KEY_COUNT_LIMIT)
      .describe('Expressions whose values form the bucket key of a request, 1 to 10.'),
    enforce,
  })
  .describe('Limits the number of requests per key.');

export type RateLimitConfig = z.output<typeof rateLimit>;
