import { removal } from '../../diagnostics/meant.ts';
import { quoted } from '../../diagnostics/message_text.ts';
import type { Report, Sound } from '../../diagnostics/report.ts';
import type { ActionPlace } from '../fact_values.ts';
import { isFilled } from '../field_checks.ts';
import type { AiGatewayConfig } from './action_schema.ts';

/**
 * Reports keys of providers without their own URL: those of known providers belong to the gateway. Former policies
 * have them, so they are an error only if the check is strict.
 */
export function checkAction(
  config: Sound<AiGatewayConfig>,
  report: Report<number | string>,
  { strict = false }: Pick<ActionPlace, 'strict'>,
): void {
  const code = strict ? 2267 : 'policy.provider_keys';
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
    report(code, `/providers/${index}/api_keys`, message, { at: 'key', hint });
  }
  if (!Object.hasOwn(config, 'api_key_selection') || hasOwn) return;
  report(code, '/api_key_selection', 'keys are selected only for providers with a base_url', {
    at: 'key',
    hint: 'remove api_key_selection',
    fix: removal(true),
  });
}
