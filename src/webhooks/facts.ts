import { BOOL } from '../cel/types.ts';
import { error, resultOf } from '../filters/result_types.ts';
import type { DeclaredReason } from '../engine/module.ts';
import { type WebhookReason, isRefusal, WEBHOOK_REASONS } from './reasons.ts';
import { cannotVerify, notInCasesOfWebhooks } from './cannot_happen.ts';
import { checkAction, checkModule, findings } from './check.ts';
import type { Filter } from '../filters/facts.ts';
import type { WebhookVerificationConfig } from './module_schema.ts';
import type { VerifyWebhookConfig } from './action_schema.ts';

export const reasons = Object.fromEntries(
  Object.entries(WEBHOOK_REASONS).map(([reason, message]) => [
    `webhook_verification.${reason}`,
    { message, decision: isRefusal(reason as WebhookReason) ? 'block' : 'allow' },
  ]),
) as Readonly<Record<`webhook_verification.${WebhookReason}`, DeclaredReason>>;

const signedBy = ({
  provider,
  secret = '',
}: {
  readonly provider: string;
  readonly secret?: string | undefined;
}) => ({
  provider,
  secret,
});

export const numbers = {
  unsigned: {
    number: 3204,
    title: 'Webhook not verified',
    means: 'The signature of a webhook is missing, wrong or too old.',
  },
};

export const webhookVerification = {
  numbers,
  module: {
    type: 'webhook_verification',
    place: 'route',
    edgeKinds: ['https'],
    ends: 'may',
    reads: ['headers', 'body', 'clock'],
    signedBy,
    costNs: 9000,
    secrets: ['/secret'],
    unseen: ['/secret'],
    emptyIsUnset: ['/secret'],
    apiCodes: { bad: 7030 },
    cannotHappen: cannotVerify,
    notInCases: notInCasesOfWebhooks,
    check: checkModule,
    findings,
    reasons,
    examples: {
      good: [{ provider: 'github', secret: 'a webhook secret' }],
      bad: [{ config: { provider: 'github' }, finding: 'edge.webhook_secret' }],
    },
  },
  action: {
    type: 'verify-webhook',
    phases: ['on_http_request'],
    ends: { when: 'may', how: ['denied', 'replied'] },
    result: resultOf('verify_webhook', 'Result of the verification.', {
      verified: [BOOL, 'Whether the signature is valid.'],
      error,
    }),
    leavesRequest: true,
    guards: true,
    alsoCalled: ['webhook-verification', 'webhook-validation'],
    secrets: ['/secret'],
    unseen: ['/secret'],
    reads: ['headers', 'body', 'clock'],
    signedBy,
    costNs: 9000,
    check: checkAction,
    reasons: WEBHOOK_REASONS,
    examples: {
      good: [{ provider: 'github', secret: "${secrets.get('shop', 'hook')}" }],
      bad: [{ config: { provider: 'github' }, finding: 2240 }],
    },
  },
} satisfies Filter<WebhookVerificationConfig, VerifyWebhookConfig>;
