import { removal } from '../diagnostics/meant.ts';
import { quoted } from '../diagnostics/message_text.ts';
import type { Report, Sound } from '../diagnostics/report.ts';
import type { VerifyWebhookConfig } from './action_schema.ts';
import type { WebhookVerificationConfig } from './module_schema.ts';
import { webhookSecretProblems } from './secret.ts';
import { findProvider } from './table.ts';

export const findings = {
  'edge.webhook_secret': {
    cure: [
      '`provider: stripe` without a secret',
      'Write the secret that the provider shows, or leave it out for sns',
    ],
    message: 'Every webhook provider except sns requires a secret in its format; sns has none.',
    number: 7027,
    numberOfReason: { secret_forbidden: 7026 },
  },
  'edge.webhook_uncertain': {
    cure: ['A provider of low certainty', 'Try it with a real webhook before you rely on it'],
    severity: 'warning',
    message: 'This provider does not publish how it signs; the verification may be wrong.',
  },
} as const;

/** Checks that the provider has a usable secret. */
export function checkModule(
  config: Sound<WebhookVerificationConfig>,
  report: Report<keyof typeof findings>,
): void {
  const provider = config.provider === undefined ? undefined : findProvider(config.provider);
  // An invalid secret is present but undefined, and was already reported.
  if (provider === undefined || ('secret' in config && config.secret === undefined)) return;
  for (const { code, message } of webhookSecretProblems(provider, config.secret)) {
    const at = code === 'secret_required' ? '' : '/secret';
    const hint =
      code === 'secret_required' ? 'add secret: with the value that the provider shows' : undefined;
    report('edge.webhook_secret', at, message, { at: 'key', reason: code, hint });
  }
  if (provider.unverified === true) {
    const message = `${provider.id} does not publish how it signs; the verification is a guess`;
    report('edge.webhook_uncertain', '/provider', message);
  }
}

/** Checks that there is a secret if the provider requires one. */
export function checkAction(config: Sound<VerifyWebhookConfig>, report: Report<number | string>): void {
  const { provider } = config;
  const hasSecret = Object.hasOwn(config, 'secret');
  if (provider === undefined) return;
  if (provider === 'sns' && hasSecret) {
    const message = "'sns' signs with a published certificate: a secret has no effect";
    report('policy.no_effect', '/secret', message, { at: 'key', hint: 'remove secret', fix: removal(true) });
  } else if (provider !== 'sns' && !hasSecret) {
    const message = `'secret' is required for the provider ${quoted(provider)}`;
    const hint = "add secret, such as secret: ${secrets.get('webhooks', 'name')}";
    report(2240, '/provider', message, { hint });
  }
}
