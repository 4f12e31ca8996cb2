import * as z from 'zod';
import { enabled } from '../filters/module_fields_schema.ts';
import { PROVIDER_IDS } from './table.ts';

export const webhookVerification = z
  .strictObject({
    enabled,
    provider: z
      .string()
      .refine((name) => PROVIDER_IDS.includes(name.toLowerCase()), { error: 'unknown provider' })
      .meta({ description: 'Sender of the webhooks, case-insensitive.', enumAnyCase: PROVIDER_IDS }),
    secret: z
      .string()
      .optional()
      .describe('Secret of the signatures; required for every provider except sns.'),
  })
  .describe('Requires webhooks to be signed by their provider.');

export type WebhookVerificationConfig = z.output<typeof webhookVerification>;
