import type { EdgeConfig, RouteConfig } from '../edge/document/schema.ts';
import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { Branding } from '../engine/branding.ts';
import { checkAttachedPolicy } from '../policy/document/check.ts';
import { documentFor, keepDocument } from '../policy/document/checked_policies.ts';
import type { PolicyDocument } from '../policy/document/document.ts';
import type { TrafficPolicyConfig } from '../policy/module_schema.ts';

/** Reading a policy takes longer than analysing it, so it is read once for all analyses of its configuration. */
const documents = new WeakMap<
  TrafficPolicyConfig,
  { readonly at: string; readonly service: string; readonly document: PolicyDocument | null }
>();

/** The document of the policy of a module at `pointer`; null if it has errors. */
export function policyDocument(
  config: TrafficPolicyConfig,
  pointer: string,
  branding: Branding,
  attachedTo: 'https_edge' | 'tls_edge' = 'https_edge',
): PolicyDocument | null {
  const at = pointerTo(pointer, 'value');
  const { service } = branding;
  const known = documents.get(config);
  if (known?.at === at && known.service === service) return known.document;
  const document =
    documentFor(config, { at, service, attachedTo }) ??
    checkAttachedPolicy({ pointer: at, text: config.value }, { branding, attachedTo }).document;
  documents.set(config, { at, service, document });
  return document;
}

/** Lets the compiler of a configuration use the documents that the analysis reads, too. */
export function lendDocuments({ edges }: EdgeConfig, branding: Branding): void {
  for (const [name, { routes }] of Object.entries(edges.https)) {
    for (const [index, each] of routes.entries()) {
      const route: RouteConfig = each;
      const { traffic_policy: policy } = route;
      if (policy === undefined) continue;
      const at = pointerTo(`${pointerTo('/edges/https', name)}/routes`, route.id ?? index);
      const pointer = pointerTo(at, 'traffic_policy');
      const document = policyDocument(policy, pointer, branding);
      const place = {
        at: pointerTo(pointer, 'value'),
        attachedTo: 'https_edge',
        service: branding.service,
      } as const;
      if (document !== null) keepDocument(policy, place, document);
    }
  }
}
