import { suggest } from '../diagnostics/suggest.ts';
import { signWebhook } from '../webhooks/sign.ts';
import { PROVIDER_IDS, findProvider } from '../webhooks/table.ts';
import type { Signer } from './document/requests.ts';

/**
 * Signs requests as webhook providers do. The table of providers is large: load this module only where it is
 * needed.
 */
export const webhookSigner: Signer = (name, secret, request, nowMs) => {
  const provider = findProvider(name);
  if (provider === undefined) {
    const near = suggest(name, PROVIDER_IDS);
    const hint = near === undefined ? '' : `; did you mean '${near}'?`;
    return { problem: `unknown webhook provider '${name}'${hint}`, part: 'provider' };
  }
  const signed = signWebhook(provider, secret, request, nowMs);
  return 'problem' in signed ? { problem: signed.problem, part: 'secret' } : signed.request;
};
