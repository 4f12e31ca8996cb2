import type { Diagnostic, Source } from '../diagnostics/diagnostic.ts';
import { brandingOf } from '../engine/branding.ts';
import { compileFacts } from '../policy/env/facts_table.ts';
import { webhookSecretProblems } from '../webhooks/secret.ts';
import { findProvider } from '../webhooks/table.ts';
import { checkCarriedPolicy } from '../policy/document/check.ts';
import { keepDocument } from '../policy/document/checked_policies.ts';
import type { TrafficPolicyConfig } from '../policy/module_schema.ts';
import { checkCertificates } from './certificates.ts';
import { type Checked, type Checking, type SemanticCheck, checkEdge } from './document/check.ts';
import { hostsOf, internalHostsOf } from './internal_hosts.ts';
import type { PolicySetting } from '../policy/document/setting.ts';
import type { ValidationCache } from './document/validation_cache.ts';
import { routesOf, streamEdgesOf } from './document/routes_of.ts';
import { checkSamlMetadata } from './saml_metadata.ts';
import { type SecretSource, secretProvider } from './secrets.ts';

/** What is known of a file's surroundings; what is left out is not checked. */
export interface CheckOptions {
  /** Secrets that policies may name, where their provider can list them. */
  readonly secrets?: SecretSource;
  /** Whether policies are told what works here and not at the service. */
  readonly strict?: boolean;
  /** The time, for what expires. */
  readonly nowMs?: number;
  /** What was found sound in objects checked before: parts of them that never change are not checked again. */
  readonly cache?: ValidationCache;
}

/** The checks of languages and tables inside an edge file. */
const FURTHER_CHECKS: readonly SemanticCheck[] = semanticChecks({});

/** The checks for what is known of the surroundings. */
export function semanticChecks({ secrets, nowMs, strict = false }: CheckOptions): readonly SemanticCheck[] {
  const names = secrets === undefined ? undefined : secretProvider(secrets).list?.();
  return [
    checkFacts,
    checkWebhooks,
    checkCertificates,
    (checking) => checkSamlMetadata(checking, nowMs),
    (checking) => checkPolicies(checking, names, strict),
  ];
}

/** `checkEdge` with everything that can be checked. */
export function checkWholeEdge(
  given: Source | { readonly value: unknown },
  options: CheckOptions = {},
): Checked {
  const isPlain = options.secrets === undefined && options.nowMs === undefined && options.strict !== true;
  return checkEdge(given, isPlain ? FURTHER_CHECKS : semanticChecks(options), options.cache);
}

/** Whether every provider of webhooks has a secret that it can sign with. */
function checkWebhooks({ config, report }: Checking): readonly Diagnostic[] {
  for (const { pointer, thing: route } of routesOf(config)) {
    const webhook = route.webhook_verification;
    const provider = webhook?.provider === undefined ? undefined : findProvider(webhook.provider);
    if (webhook === undefined || provider === undefined) continue;
    const at = `${pointer}/webhook_verification`;
    // A secret that departed from its shape is there nevertheless, and has been told of.
    if ('secret' in webhook && webhook.secret === undefined) continue;
    for (const { code, message } of webhookSecretProblems(provider, webhook.secret)) {
      const place = code === 'secret_required' ? at : `${at}/secret`;
      report('edge.webhook_secret', place, message, { at: 'key', reason: code });
    }
    if (provider.unverified === true) {
      const message = `how ${provider.id} signs is not published; the verification is a guess`;
      report('edge.webhook_uncertain', `${at}/provider`, message);
    }
  }
  return [];
}

/** The facts table, placed in the file. */
function checkFacts({ config, document }: Checking): readonly Diagnostic[] {
  const { source } = document;
  const { diagnostics } = compileFacts(config.facts, '/facts');
  if (source === undefined) return diagnostics;
  return diagnostics.map((diagnostic) => {
    const span = document.spanOf(diagnostic.pointer) ?? document.spanOf('/facts');
    return span === undefined ? diagnostic : Object.assign({}, diagnostic, { source, span });
  });
}

/** Every traffic policy, whole: its findings stand in the file, inside the string. */
function checkPolicies(
  { config, document }: Checking,
  secrets: PolicySetting['secrets'],
  strict: boolean,
): readonly Diagnostic[] {
  const branding = brandingOf(config.service_name ?? 'service');
  const { source } = document;
  const ipPolicies = Object.keys(config.ip_policies ?? {});
  const internalHosts = internalHostsOf(Object.values(config.edges?.https ?? {}));
  const carriers = [
    ...routesOf(config).map((route) => Object.assign(route, { carriedBy: 'https_edge' as const })),
    ...streamEdgesOf(config).map((edge) => Object.assign(edge, { carriedBy: `${edge.kind}_edge` as const })),
  ];
  return carriers.flatMap(({ name, pointer, thing, carriedBy }) => {
    const { traffic_policy: policy } = thing;
    const text = policy?.value;
    if (policy === undefined || text === undefined) return [];
    const at = `${pointer}/traffic_policy/value`;
    const span = document.spanOf(at);
    const hosts = carriedBy === 'https_edge' ? hostsOf([config.edges?.https?.[name]]) : [];
    const known = { strict, ...(secrets && { secrets }), ...(hosts.length > 0 && { hosts }) };
    const setting = { branding, carriedBy, ipPolicies, internalHosts, ...known } as const;
    // Without a file the string is its own source: positions count inside it.
    const carried =
      source !== undefined && span !== undefined
        ? { file: source, pointer: at, span, text }
        : { file: { name: at, text }, pointer: at, span: { start: 0, end: text.length }, text };
    const checked = checkCarriedPolicy(carried, setting);
    const place = { at, carriedBy, service: branding.service };
    // Without errors every member of the policy is there.
    if (checked.document !== null) keepDocument(policy as TrafficPolicyConfig, place, checked.document);
    return checked.diagnostics;
  });
}
