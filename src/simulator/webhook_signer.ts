import { suggest } from '../diagnostics/suggest.ts';
import { signWebhook } from '../mechanisms/webhook/sign.ts';
import { PROVIDER_IDS, findProvider } from '../mechanisms/webhook/table.ts';
import type { Signer } from './document/requests.ts';

/** Signs requests as the providers of webhooks do. The table of providers is large: load it where something is signed. */
export const webhookSigner: Signer = (name, secret, request, nowMs) => {
  const provider = findProvider(name);
  if (provider === undefined) {
    const near = suggest(name, PROVIDER_IDS);
    const hint = near === undefined ? '' : `; did you mean '${near}'?`;
    return { problem: `no provider of webhooks is called '${name}'${hint}`, part: 'provider' };
  }
  const signed = signWebhook(provider, secret, request, nowMs);
  return 'problem' in signed ? { problem: signed.problem, part: 'secret' } : signed.request;
};
