import { parseTemplate } from './message.ts';
import type { Template } from './message.ts';
import { describePlace } from './places.ts';
import type { Place, Provider, Scheme } from './provider.ts';
import { prepareKey, schemesFor, webhookSecretProblems } from './secret.ts';
import type { PreparedKey } from './secret.ts';

/** A scheme with its secret and template made ready. */
export interface PreparedScheme {
  readonly scheme: Scheme;
  readonly key: PreparedKey;
  readonly template: Template;
  /** The fields of the scheme as a list, so that no request makes one. */
  readonly fields: readonly (readonly [name: string, at: Place])[];
  /** Where the signature is, so that schemes can be told that share the place. */
  readonly place: string;
}

/** A provider with a secret made ready, once for each configuration. */
export interface WebhookVerifier {
  readonly provider: Provider;
  readonly schemes: readonly PreparedScheme[];
  /** Why the secret cannot be used: then every request is refused. Null when it can. */
  readonly problem: string | null;
}

/** Makes a secret ready for a provider. Never throws: a secret that is no good is noted, and refuses. */
export function prepareWebhook(provider: Provider, secret: string | undefined): WebhookVerifier {
  const [problem] = webhookSecretProblems(provider, secret);
  if (problem !== undefined) return { provider, schemes: [], problem: problem.message };
  const schemes: PreparedScheme[] = [];
  for (const scheme of schemesFor(provider, secret ?? '')) {
    const key = prepareKey(scheme, secret ?? '');
    if ('problem' in key) return { provider, schemes: [], problem: key.problem };
    schemes.push(prepareScheme(scheme, key));
  }
  return { provider, schemes, problem: null };
}

/** A scheme with a key that goes with it, its template taken apart. */
export function prepareScheme(scheme: Scheme, key: PreparedKey): PreparedScheme {
  const [first] = scheme.signature;
  return {
    scheme,
    key,
    template: parseTemplate(scheme.signs),
    fields: Object.entries(scheme.fields ?? {}),
    place: 'header' in first! ? first.lower : describePlace(first!),
  };
}
