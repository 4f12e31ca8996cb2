import * as z from 'zod';
import { enforce } from '../filters/action_fields_schema.ts';
import { PROVIDER_IDS } from './table.ts';

export const verifyWebhook = z
  .strictObject({
    provider: z.string().min(1).meta({ description: 'Sender of the webhooks.', enumAnyCase: PROVIDER_IDS }),
    secret: z.string().min(1).optional().meta({
      description: 'Secret of the signatures; required for every provider except sns.',
      template: true,
      secret: true,
    }),
    enforce,
  })
  .describe('Requires webhooks to be signed by their provider.');

export type VerifyWebhookConfig = z.output<typeof verifyWebhook>;
