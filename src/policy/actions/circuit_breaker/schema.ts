import * as z from 'zod';
import { duration, enforce } from '../schema.ts';

const BUCKETS = 10;
const VOLUME_LIMIT = 2_000_000_000;

export const circuitBreaker = z
  .strictObject({
    error_threshold: z
      .number()
      .min(0)
      .max(1)
      .default(0.5)
      .describe('Share of failed requests that trips the circuit, 0.0 to 1.0.'),
    volume_threshold: z
      .int()
      .min(1)
      .max(VOLUME_LIMIT)
      .default(10)
      .describe('Requests that the window must hold before the share of errors is looked at.'),
    window_duration: duration('Time for which the outcome of a request counts, 1s to 2m.', {
      least: '1s',
      most: '2m',
    }).default('10s'),
    tripped_duration: duration('Time to wait before the upstream is tried again, 1s to 2m.', {
      least: '1s',
      most: '2m',
    }).default('10s'),
    num_buckets: z
      .literal(BUCKETS)
      .default(BUCKETS)
      .meta({ description: 'Parts of the window; always 10, and set by the service.', fixed: BUCKETS }),
    enforce,
  })
  .meta({
    description: 'Holds requests back from an upstream that keeps failing.',
    aliases: { rolling_window: 'window_duration', error_threshold_percentage: 'error_threshold' },
  });

export type CircuitBreakerConfig = z.output<typeof circuitBreaker>;
