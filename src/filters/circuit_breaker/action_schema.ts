import * as z from 'zod';
import { duration, enforce } from '../action_fields_schema.ts';

const BUCKETS = 10;
const VOLUME_LIMIT = 2_000_000_000;

export const circuitBreaker = z
  .strictObject({
    error_threshold: z
      .number()
      .min(0)
      .max(1)
      .default(0.5)
      .describe('Share of failed requests that opens the circuit, 0.0 to 1.0.'),
    volume_threshold: z
      .int()
      .min(1)
      .max(VOLUME_LIMIT)
      .default(10)
      .describe('Minimum number of requests in the window before the error share counts.'),
    window_duration: duration('Length of the window in which outcomes count, 1s to 2m.', {
      least: '1s',
      most: '2m',
    }).default('10s'),
    tripped_duration: duration('Time before the upstream is tried again, 1s to 2m.', {
      least: '1s',
      most: '2m',
    }).default('10s'),
    num_buckets: z
      .literal(BUCKETS)
      .default(BUCKETS)
      .meta({ description: 'Parts of the window; always 10, set by the service.', fixed: BUCKETS }),
    enforce,
  })
  .meta({
    description: 'Rejects requests while the upstream keeps failing.',
    aliases: { rolling_window: 'window_duration', error_threshold_percentage: 'error_threshold' },
  });

export type CircuitBreakerConfig = z.output<typeof circuitBreaker>;
