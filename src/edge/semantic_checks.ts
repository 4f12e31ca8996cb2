import type { Diagnostic, Source } from '../diagnostics/diagnostic.ts';
import { brandingOf } from '../engine/branding.ts';
import { compileFacts } from '../policy/env/facts_table.ts';
import { writtenAt } from '../config_file/document.ts';
import { checkPolicyAt, checkPolicyText } from '../policy/document/check.ts';
import { keepDocument } from '../policy/document/checked_policies.ts';
import type { TrafficPolicyConfig } from '../policy/module_schema.ts';
import { checkCertificates } from './certificates.ts';
import {
  type Assemble,
  type Checked,
  type Checking,
  type CloudEndpoints,
  type SemanticCheck,
  checkEdge,
} from './document/check.ts';
import { hostsOf, internalAddressesOf, internalHostsOf } from './document/internal_hosts.ts';
import type { PolicySetting } from '../policy/document/setting.ts';
import type { ValidationCache } from './document/validation_cache.ts';
import { routesOf, streamEdgesOf } from './document/routes_of.ts';
import { type SecretSource, secretProvider } from './secrets.ts';

/** What is known about the environment of a file; checks that need missing options are skipped. */
export interface CheckOptions {
  /** Secrets that policies may name, if their provider can list them. */
  readonly secrets?: SecretSource;
  /** Whether to warn about what works here but is not documented by the service. */
  readonly strict?: boolean;
  /** The time, to check what expires. */
  readonly nowMs?: number;
  /** The edges that are cloud endpoints, by name. */
  readonly endpoints?: CloudEndpoints;
  /** Objects that were found valid before; unchanged parts are not checked again. */
  readonly cache?: ValidationCache;
  /** Puts in other files that the given one names; by default none can be named. */
  readonly assemble?: Assemble;
  /** Whether findings in policies have spans in the text of the policy, which takes more time; default true. */
  readonly places?: boolean;
  /** Whether edges take only the requests of the hosts that they name, or those of every host. */
  readonly hosts?: 'named' | 'any';
}

/** The checks of languages and tables inside an edge file. */
const FURTHER_CHECKS: readonly SemanticCheck[] = semanticChecks({});

/** The checks for a given environment. */
export function semanticChecks(options: CheckOptions): readonly SemanticCheck[] {
  const { secrets } = options;
  const names = secrets === undefined ? undefined : secretProvider(secrets).list?.();
  return [checkFacts, checkCertificates, (checking) => checkPolicies(checking, names, options)];
}

/** `checkEdge` with all checks. */
export function checkWholeEdge(
  given: Source | { readonly value: unknown },
  options: CheckOptions = {},
): Checked {
  const isPlain =
    options.secrets === undefined &&
    options.strict !== true &&
    options.endpoints === undefined &&
    options.places !== false;
  const further = isPlain ? FURTHER_CHECKS : semanticChecks(options);
  return checkEdge(given, further, options);
}

/** Checks the facts table; findings are located in the file. */
function checkFacts({ config, document }: Checking): readonly Diagnostic[] {
  const { diagnostics } = compileFacts(config.facts, '/facts');
  const { source } = writtenAt(document, '/facts').document;
  if (source === undefined) return diagnostics;
  return diagnostics.map((diagnostic) => {
    const span = document.spanOf(diagnostic.pointer) ?? document.spanOf('/facts');
    return span === undefined ? diagnostic : Object.assign({}, diagnostic, { source, span });
  });
}

/** Checks every traffic policy; findings are located in the file, inside the string. */
function checkPolicies(
  { config, document }: Checking,
  secrets: PolicySetting['secrets'],
  { strict = false, endpoints = {}, places = true, hosts: takes = 'named', cache }: CheckOptions,
): readonly Diagnostic[] {
  const branding = brandingOf(config.service_name ?? 'service');
  const ipPolicies = Object.keys(config.ip_policies ?? {});
  const internalHosts = internalHostsOf(Object.values(config.edges?.https ?? {}));
  const internalAddresses = internalAddressesOf(config.edges ?? {});
  const placed = [
    ...routesOf(config).map((route) => Object.assign(route, { attachedTo: 'https_edge' as const })),
    ...streamEdgesOf(config).map((edge) => Object.assign(edge, { attachedTo: `${edge.kind}_edge` as const })),
  ];
  return placed.flatMap(({ name, pointer, thing, attachedTo }) => {
    const { traffic_policy: policy } = thing;
    const text = policy?.value;
    if (policy === undefined || text === undefined) return [];
    const at = `${pointer}/traffic_policy/value`;
    const isNamed = attachedTo === 'https_edge' && takes === 'named';
    const hosts = isNamed ? hostsOf([config.edges?.https?.[name]]) : [];
    const hasBackend = !Object.hasOwn(endpoints, name);
    const known = { strict, hasBackend, ...(secrets && { secrets }), ...(hosts.length > 0 && { hosts }) };
    const internal = { internalHosts, internalAddresses };
    const setting = { branding, attachedTo, ipPolicies, ...internal, ...known } as const;
    const checked = places
      ? checkPolicyAt(document, at, text, setting)
      : (cache?.policies.check ?? checkPolicyText)({ pointer: at, text }, setting);
    const place = { at, attachedTo, service: branding.service };
    // Without errors every member of the policy is present.
    if (checked.document !== null) keepDocument(policy as TrafficPolicyConfig, place, checked.document);
    return checked.diagnostics;
  });
}
