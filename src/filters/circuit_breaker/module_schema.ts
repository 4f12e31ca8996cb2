import * as z from 'zod';
import { enabled, seconds } from '../module_fields_schema.ts';

const BUCKET_LIMIT = 128;
const COUNT_LIMIT = 4_294_967_295;

export const circuitBreaker = z
  .strictObject({
    enabled,
    tripped_duration: seconds(
      1,
      10,
      'Seconds to wait after the circuit trips before the upstream is tried again.',
    ),
    rolling_window: seconds(1, 10, 'Seconds for which the outcome of a request counts.'),
    num_buckets: z
      .int()
      .min(1)
      .max(BUCKET_LIMIT)
      .default(10)
      .describe('Number of buckets that the rolling window is divided into, 1 to 128.'),
    volume_threshold: z
      .int()
      .min(0)
      .max(COUNT_LIMIT)
      .default(20)
      .describe('Requests that the rolling window must hold before the share of errors is looked at.'),
    error_threshold_percentage: z
      .number()
      .min(0)
      .max(1)
      .default(0.5)
      .describe('Share of failed requests that trips the circuit, 0 to 1.0.'),
  })
  .describe('Holds requests back from an upstream that keeps failing.');

export type CircuitBreakerConfig = z.output<typeof circuitBreaker>;
