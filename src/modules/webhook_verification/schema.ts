import * as z from 'zod';
import { enabled } from '../schema.ts';
import { WEBHOOK_PROVIDERS } from './providers.ts';

export const webhookVerification = z
  .strictObject({
    enabled,
    provider: z
      .string()
      .refine((name) => WEBHOOK_PROVIDERS.includes(name.toLowerCase()), { error: 'unknown provider' })
      .meta({ description: 'Who sends the webhooks, in any letter case.', enumAnyCase: WEBHOOK_PROVIDERS }),
    secret: z
      .string()
      .optional()
      .describe('Secret that the provider signs with; needed for every provider but sns, which has none.'),
  })
  .describe('Lets in webhooks that their provider has signed.');

export type WebhookVerificationConfig = z.output<typeof webhookVerification>;
