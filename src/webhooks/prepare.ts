import { type Template, parseTemplate } from './message.ts';
import { describePlace } from './places.ts';
import type { Place, Provider, Scheme } from './provider.ts';
import { type PreparedKey, prepareKey, schemesFor, webhookSecretProblems } from './secret.ts';

/** A scheme with its prepared secret and template. */
export interface PreparedScheme {
  readonly scheme: Scheme;
  readonly key: PreparedKey;
  readonly template: Template;
  /** The fields of the scheme as a list, created once. */
  readonly fields: readonly (readonly [name: string, at: Place])[];
  /** The places of the signature, to find schemes that share them. */
  readonly place: string;
}

/** A provider with its prepared secret; created once per configuration. */
export interface WebhookVerifier {
  readonly provider: Provider;
  readonly schemes: readonly PreparedScheme[];
  /** Why the secret is unusable, in which case every request is refused; null if it is usable. */
  readonly problem: string | null;
}

/** Prepares a secret for a provider. Never throws: an unusable secret refuses all requests. */
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

/** Combines a scheme with its key and its parsed template. */
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
