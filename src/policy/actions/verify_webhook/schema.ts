import * as z from 'zod';
import { enforce } from '../schema.ts';
import { PROVIDER_IDS } from '../../../mechanisms/webhook/table.ts';

export const verifyWebhook = z
  .strictObject({
    provider: z.string().min(1).meta({ description: 'Who sends the webhooks.', enumAnyCase: PROVIDER_IDS }),
    secret: z.string().min(1).optional().meta({
      description: 'Secret that the provider signs with; needed for every provider but sns.',
      template: true,
      secret: true,
    }),
    enforce,
  })
  .describe('Lets in webhooks that their provider has signed.');

export type VerifyWebhookConfig = z.output<typeof verifyWebhook>;
