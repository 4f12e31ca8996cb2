import { quoted } from '../../diagnostics/message_text.ts';
import type { Report, Sound } from '../../diagnostics/report.ts';
import { isFilled } from '../field_checks.ts';
import type { AiGatewayConfig } from './action_schema.ts';

/** Checks that keys are only set for providers with their own URL; those of known providers belong to the gateway. */
export function checkAction(config: Sound<AiGatewayConfig>, report: Report<number>): void {
  const providers = config.providers ?? [];
  let hasOwn = false;
  for (const [index, provider] of providers.entries()) {
    if (provider === undefined) continue;
    if (Object.hasOwn(provider, 'base_url')) {
      hasOwn = true;
      continue;
    }
    if (!isFilled(provider.api_keys ?? [])) continue;
    const message = `the provider ${quoted(String(provider.id))} takes its keys from the key of the gateway, not from policies`;
    const hint = 'remove api_keys, or add the base_url of your own provider';
    report(2267, `/providers/${index}/api_keys`, message, { at: 'key', hint });
  }
  if (!Object.hasOwn(config, 'api_key_selection') || hasOwn) return;
  report(2267, '/api_key_selection', 'keys are selected only for providers with a base_url', {
    at: 'key',
    hint: 'remove api_key_selection',
  });
}
