import type { Diagnostic, Source } from '../diagnostics/diagnostic.ts';
import { serviceNaming } from '../engine/naming.ts';
import { compileFacts } from '../expression/vocabulary/facts_table.ts';
import { webhookSecretProblems } from '../mechanisms/webhook/secret.ts';
import { findProvider } from '../mechanisms/webhook/table.ts';
import { checkCarriedPolicy } from '../policy/document/check.ts';
import { checkCertificates } from './certificates.ts';
import { type Checked, type Checking, type FurtherCheck, checkEdge } from './document/check.ts';
import { internalHostsOf } from './internal_hosts.ts';
import type { PolicySetting } from '../policy/document/setting.ts';
import type { KnownParts } from './document/known.ts';
import { routesOf, streamEdgesOf } from './document/routes_of.ts';
import { checkSamlMetadata } from './saml_metadata.ts';
import { type SecretSource, secretProvider } from './secrets.ts';

/** What is known of a file's surroundings; what is left out is not checked. */
export interface CheckOptions {
  /** Secrets that policies may name, where their provider can list them. */
  readonly secrets?: SecretSource;
  /** The time, for what expires. */
  readonly nowMs?: number;
  /** What was found sound in objects checked before: parts of them that never change are not checked again. */
  readonly known?: KnownParts;
}

/** The checks of languages and tables inside an edge file. */
const FURTHER_CHECKS: readonly FurtherCheck[] = furtherChecks({});

/** The checks for what is known of the surroundings. */
export function furtherChecks({ secrets, nowMs }: CheckOptions): readonly FurtherCheck[] {
  const names = secrets === undefined ? undefined : secretProvider(secrets).list?.();
  return [
    checkFacts,
    checkWebhooks,
    checkCertificates,
    (checking) => checkSamlMetadata(checking, nowMs),
    (checking) => checkPolicies(checking, names),
  ];
}

/** `checkEdge` with everything that can be checked. */
export function checkWholeEdge(
  given: Source | { readonly value: unknown },
  options: CheckOptions = {},
): Checked {
  const isPlain = options.secrets === undefined && options.nowMs === undefined;
  return checkEdge(given, isPlain ? FURTHER_CHECKS : furtherChecks(options), options.known);
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
    for (const { code, says } of webhookSecretProblems(provider, webhook.secret)) {
      const place = code === 'secret_required' ? at : `${at}/secret`;
      report('edge.webhook_secret', place, says, { at: 'key' });
    }
    if (provider.certainty === 'low') {
      const says = `how ${provider.id} signs is not published; what is verified here is a guess of low certainty`;
      report('edge.webhook_uncertain', `${at}/provider`, says);
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
): readonly Diagnostic[] {
  const naming = serviceNaming(config.service_name ?? 'service');
  const { source } = document;
  const ipPolicies = Object.keys(config.ip_policies ?? {});
  const internalHosts = internalHostsOf(Object.values(config.edges?.https ?? {}));
  const carriers = [
    ...routesOf(config).map((route) => Object.assign(route, { carriedBy: 'https_edge' as const })),
    ...streamEdgesOf(config).map((edge) => Object.assign(edge, { carriedBy: `${edge.kind}_edge` as const })),
  ];
  return carriers.flatMap(({ pointer, thing, carriedBy }) => {
    const text = thing.traffic_policy?.value;
    if (text === undefined) return [];
    const at = `${pointer}/traffic_policy/value`;
    const span = document.spanOf(at);
    const setting = { naming, carriedBy, ipPolicies, internalHosts, ...(secrets && { secrets }) } as const;
    if (source !== undefined && span !== undefined) {
      return checkCarriedPolicy({ file: source, pointer: at, span, text }, setting).diagnostics;
    }
    // Without a file the string is its own source: positions count inside it.
    const file = { name: at, text };
    return checkCarriedPolicy({ file, pointer: at, span: { start: 0, end: text.length }, text }, setting)
      .diagnostics;
  });
}
