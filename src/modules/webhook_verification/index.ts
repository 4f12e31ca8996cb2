import type { Module, Reason } from '../../engine/module.ts';
import { isRefusal, WEBHOOK_REASONS } from '../../mechanisms/webhook/reasons.ts';
import type { WebhookReason } from '../../mechanisms/webhook/reasons.ts';
import { compileWebhookVerification } from './compile.ts';
import type { WebhookVerificationConfig } from './schema.ts';

type Code = `webhook_verification.${WebhookReason}`;

const reasons = Object.fromEntries(
  Object.entries(WEBHOOK_REASONS).map(([reason, says]) => [
    `webhook_verification.${reason}`,
    { says, decision: isRefusal(reason as WebhookReason) ? 'block' : 'allow' },
  ]),
) as Readonly<Record<Code, Reason>>;

/** Lets in webhooks that their provider has signed, and answers the provider's challenges. */
export const webhookVerification: Module<WebhookVerificationConfig, Code> = {
  type: 'webhook_verification',
  reasons,
  compile: (config, linked) => compileWebhookVerification(config, linked),
};
