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
      'Seconds to wait after the circuit opens before the upstream is tried again.',
    ),
    rolling_window: seconds(1, 10, 'Length of the rolling window in seconds.'),
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
      .describe('Minimum number of requests in the rolling window before the error share counts.'),
    error_threshold_percentage: z
      .number()
      .min(0)
      .max(1)
      .default(0.5)
      .describe('Share of failed requests that opens the circuit, 0 to 1.0.'),
  })
  .describe('Rejects requests while the upstream keeps failing.');

export type CircuitBreakerConfig = z.output<typeof circuitBreaker>;
