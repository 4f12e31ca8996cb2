import type { Module } from '../engine/module.ts';
import type { WebhookReason } from './reasons.ts';
import { reasons } from './facts.ts';
import { compileWebhookVerification } from './module_compile.ts';
import type { WebhookVerificationConfig } from './module_schema.ts';

type Code = `webhook_verification.${WebhookReason}`;

/** Accepts webhooks signed by their provider, and answers the provider's challenges. */
export const webhookVerification: Module<WebhookVerificationConfig, Code> = {
  type: 'webhook_verification',
  reasons,
  compile: (config, linked) => compileWebhookVerification(config, linked),
};
