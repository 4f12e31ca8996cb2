import * as z from 'zod';
import { enabled } from '../filters/module_fields_schema.ts';
import { PROVIDER_IDS } from './table.ts';

export const webhookVerification = z
  .strictObject({
    enabled,
    provider: z
      .string()
      .refine((name) => PROVIDER_IDS.includes(name.toLowerCase()), { error: 'unknown provider' })
      .meta({ description: 'Who sends the webhooks, in any letter case.', enumAnyCase: PROVIDER_IDS }),
    secret: z
      .string()
      .optional()
      .describe('Secret that the provider signs with; needed for every provider but sns, which has none.'),
  })
  .describe('Lets in webhooks that their provider has signed.');

export type WebhookVerificationConfig = z.output<typeof webhookVerification>;
