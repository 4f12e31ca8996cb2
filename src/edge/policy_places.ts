import { weakMemoize } from '../caches/weak_memoize.ts';
import type { Source } from '../diagnostics/diagnostic.ts';
import { linesOf, positionAt } from '../diagnostics/lines.ts';
import { valueAt } from '../config_file/document.ts';
import { brandingOf } from '../engine/branding.ts';
import { checkPolicyAt } from '../policy/document/check.ts';
import { documentFor } from '../policy/document/checked_policies.ts';
import type { PolicyDocument } from '../policy/document/document.ts';
import type { TrafficPolicyConfig } from '../policy/module_schema.ts';
import type { Checked } from './document/check.ts';
import { routesOf, streamEdgesOf } from './document/routes_of.ts';
import type { Locate } from './explain.ts';

/** Pointer to the policy in the edge that is made around a policy without an edge file. */
export const AROUND_POLICY = '/edges/https/policy/routes/0/traffic_policy/value';

/** What the pointer of a policy's text ends with. */
const VALUE = '/value';

/** The string that contains a policy, and the pointer inside it. */
const ATTACHED = /^(\/edges\/(https|tls|tcp)\/[^/]+(?:\/routes\/\d+)?\/traffic_policy\/value)(\/.+)$/;

/** `checked.locate`, which also finds the parts of policies, wherever they are written. */
export function locateInPolicies({ config, document, locate }: Checked): Locate {
  if (config === null) return locate;
  const branding = brandingOf(config.service_name);
  const read = (pointer: string, kind: string): PolicyDocument | null => {
    const text = valueAt(config, pointer);
    if (typeof text !== 'string') return null;
    const attachedTo = `${kind as 'https' | 'tls' | 'tcp'}_edge` as const;
    const policy = valueAt(config, pointer.slice(0, -VALUE.length)) as TrafficPolicyConfig;
    const known = documentFor(policy, { at: pointer, attachedTo, service: branding.service });
    if (known?.source !== undefined) return known;
    return checkPolicyAt(document, pointer, text, { branding, attachedTo }).document;
  };
  // Unless its document is held, a policy is parsed again when one of its places is asked for; most never are.
  const located = new Map<string, Locate>();
  return (pointer) => {
    const [, parent, kind] = ATTACHED.exec(pointer) ?? [];
    if (parent === undefined || kind === undefined) return locate(pointer);
    let inside = located.get(parent);
    if (inside === undefined) located.set(parent, (inside = locatorIn(read(parent, kind), parent)));
    return inside(pointer) ?? locate(parent);
  };
}

/**
 * `checked.locate` for a configuration that is compiled next and soon dropped, such as a draft: it holds the documents of
 * the check, which the compiler takes, so that their policies are not parsed again.
 */
export function locateWhereChecked({ config, locate }: Checked): Locate {
  if (config === null) return locate;
  const { service } = brandingOf(config.service_name);
  const held = new Map<string, Locate>();
  const hold = (
    pointer: string,
    policy: unknown,
    attachedTo: 'https_edge' | 'tls_edge' | 'tcp_edge',
  ): void => {
    if (policy === undefined) return;
    const at = `${pointer}/traffic_policy/value`;
    const document = documentFor(policy as TrafficPolicyConfig, { at, attachedTo, service });
    if (document?.source !== undefined) held.set(at, locatorIn(document, at));
  };
  for (const { pointer, thing } of routesOf(config)) hold(pointer, thing.traffic_policy, 'https_edge');
  for (const { pointer, thing, kind } of streamEdgesOf(config))
    hold(pointer, thing.traffic_policy, `${kind}_edge`);
  return (pointer) => {
    const [, parent] = ATTACHED.exec(pointer) ?? [];
    return (parent === undefined ? null : held.get(parent)?.(pointer)) ?? locate(pointer);
  };
}

/** Many policies can be in one file. */
const linesIn = weakMemoize(({ text }: Source) => linesOf(text));

/** Finds the parts of a policy below `parent`; without a text there are none. */
function locatorIn(document: PolicyDocument | null, parent: string): Locate {
  const source = document?.source;
  if (source === undefined) return () => null;
  const lines = linesIn(source);
  return (pointer) => {
    const offset = offsetOf(document, pointer, parent);
    return offset === null ? null : { file: source.name, ...positionAt(lines, offset) };
  };
}

/** The start of the value at a pointer, or of its nearest parent: older spellings have other pointers. */
function offsetOf(document: PolicyDocument | null, pointer: string, end: string): number | null {
  if (document === null) return null;
  for (let at = pointer; at !== end; at = at.slice(0, at.lastIndexOf('/'))) {
    const place = document.placeOf(at);
    if (place !== undefined) return place.span.start;
  }
  return null;
}
