import { brandingOf } from '../engine/branding.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { ACTION_FACTS } from '../filters/table.ts';
import { heldDocument } from '../policy/document/checked_policies.ts';
import type { Action, PolicyDocument, Rule } from '../policy/document/document.ts';
import { POLICY_REASONS } from '../policy/facts.ts';
import type { PolicyCode } from '../policy/verdicts.ts';
import type { ExpressionLimits } from './expression_points.ts';
import { type IpDecider, rulesOfLists } from './ip_points.ts';
import {
  alwaysBefore,
  endingsOf,
  firstContradiction,
  hasLogin,
  isLogin,
  isUnconditional,
  whatShadows,
} from './policy_facts.ts';
import { type CoveragePoint, pointsWith } from './point.ts';
import type { PlacedRoute } from './placed_routes.ts';
import { keys } from './exchange_hits.ts';

/** The parsed policy of a route; null if there is none or it is disabled. */
export function policyOf({ pointer, route, kind }: PlacedRoute, config: EdgeConfig): PolicyDocument | null {
  const policy = route.traffic_policy;
  if (policy === undefined || !policy.enabled) return null;
  const at = `${pointer}/traffic_policy/value`;
  return heldDocument(policy, { at, attachedTo: `${kind}_edge`, branding: brandingOf(config.service_name) });
}

/** Rules of the phases of a request or a connection, in order. */
export function rulesOf({ phases }: PolicyDocument, kind: PlacedRoute['kind']): Rule[] {
  if (kind !== 'https') return [...phases.on_tcp_connect];
  return [...phases.on_http_request, ...phases.on_http_response, ...phases.on_event_stream_message];
}

/** The name of a rule in traces. */
export function labelOf({ name, phase, index }: Rule): string {
  return name ?? `${phase}[${index}]`;
}

/** Points: each rule of a policy applies, each action runs, and gives all of its declared results. */
export function policyPoints(placed: PlacedRoute, config: EdgeConfig): CoveragePoint[] {
  const policy = policyOf(placed, config);
  if (policy === null) return [];
  const disabled = policy.enabled ? null : 'the policy is disabled';
  const rules = rulesOf(policy, placed.kind);
  const points: CoveragePoint[] = [];
  for (const rule of rules) {
    const shadow = disabled ?? whatShadows(rule, policy, labelOf);
    const base = { span: null, routes: [placed.pointer] } as const;
    const applies: CoveragePoint = {
      ...base,
      id: `rules ${rule.pointer}`,
      kind: 'rules',
      pointer: rule.pointer,
      message: `rule ${labelOf(rule)} applies`,
      impossible: shadow,
      seen: { by: 'hit', keys: [keys.rule(rule.pointer)] },
    };
    points.push(applies);
    for (const action of rule.actions) points.push(...actionPoints(action, rule, placed, shadow));
  }
  points.push(...verdictPoints(placed, policy, disabled));
  return points;
}

/** Actions of policies that decide by client address. */
export function ipActions(routes: readonly PlacedRoute[], config: EdgeConfig): IpDecider[] {
  return routes.flatMap((placed) => {
    const policy = policyOf(placed, config);
    const actions = policy === null ? [] : rulesOf(policy, placed.kind).flatMap((rule) => rule.actions);
    return actions.flatMap(({ type, pointer, config: own }): IpDecider[] => {
      const lists = ACTION_FACTS.get(type)!.addressLists?.(own as never);
      if (lists === undefined) return [];
      return [{ pointer, route: placed.pointer, rules: rulesOfLists(`${pointer}/config`, lists, config) }];
    });
  });
}

/** Known limits of rule expressions, before any is evaluated. */
export function expressionLimits(routes: readonly PlacedRoute[], config: EdgeConfig): ExpressionLimits {
  const untrue = new Map<string, string>();
  const unreached = new Map<string, string>();
  for (const placed of routes) {
    const policy = policyOf(placed, config);
    if (policy === null) continue;
    for (const rule of rulesOf(policy, placed.kind)) {
      const shadow = policy.enabled ? alwaysBefore(rule, policy, labelOf) : 'the policy is disabled';
      const clash = firstContradiction(rule);
      for (const [index, { pointer }] of rule.expressions.entries()) {
        if (shadow !== null) unreached.set(pointer, shadow);
        else if (clash !== null && index === clash.at) untrue.set(pointer, clash.message);
        else if (clash !== null && index > clash.at) unreached.set(pointer, clash.message);
      }
    }
  }
  return { untrue, unreached };
}

function actionPoints(
  action: Action,
  rule: Rule,
  { pointer: route, kind: edgeKind }: PlacedRoute,
  shadow: string | null,
): CoveragePoint[] {
  const { type, pointer } = action;
  const at = rule.actions.indexOf(action);
  // A login answers on its reserved paths, and goes on from there, as if it were the first action of the policy.
  const entry = rule.actions.slice(0, at + 1).findLastIndex((before) => isLogin(before));
  const ender = rule.actions.slice(entry + 1, at).find((before) => endingsOf(before).always);
  const impossible =
    shadow ?? (ender === undefined ? null : `${ender.type} before it in its rule always ends the phase`);
  const base = { pointer, span: null, routes: [route] } as const;
  const label = `${type} of rule ${labelOf(rule)}`;
  const runs: CoveragePoint = {
    ...base,
    id: `actions ${pointer}`,
    kind: 'actions',
    message: `${label} runs`,
    about: type,
    impossible,
    seen: { by: 'hit', keys: [keys.action(pointer)] },
  };
  const { reasons, cannotHappen, notInCases, lastsUntilSuccess = false } = ACTION_FACTS.get(type)!;
  const codes = Object.entries(reasons).filter(([code]) => code !== 'failed');
  if (codes.length < 2) return [runs];
  const kind = lastsUntilSuccess ? 'breakers' : 'reasons';
  const comes = codes.map(([code, message]) => {
    const whole = `${type.replaceAll('-', '_')}.${code}`;
    return {
      id: `${kind} ${pointer} ${whole}`,
      message: `${whole} by ${label}: ${message}`,
      impossible: impossible ?? cannotHappen?.(code, action.config as never, edgeKind) ?? null,
      untestable: notInCases?.(code, action.config as never, edgeKind) ?? null,
      seen: { by: 'hit', keys: [keys.reason(pointer, whole)] } as const,
    };
  });
  return [runs, ...pointsWith({ ...base, kind }, comes)];
}

/** Points of the policy as a whole. Its failure is a fault, not something to cover. */
function verdictPoints(
  { pointer: route, kind }: PlacedRoute,
  policy: PolicyDocument,
  disabled: string | null,
): CoveragePoint[] {
  const pointer = `${route}/traffic_policy`;
  return Object.entries(POLICY_REASONS).flatMap(([code, { message }]): CoveragePoint[] => {
    if (code === 'traffic_policy.failed') return [];
    return [
      {
        id: `reasons ${pointer} ${code}`,
        kind: 'reasons',
        pointer,
        span: null,
        message: `${code}: ${message}`,
        routes: [route],
        impossible: impossibleVerdict(code as PolicyCode, policy, kind, disabled),
        seen: { by: 'hit', keys: [keys.reason(pointer, code)] },
      },
    ];
  });
}

function impossibleVerdict(
  code: PolicyCode,
  policy: PolicyDocument,
  kind: PlacedRoute['kind'],
  disabled: string | null,
): string | null {
  if (code === 'traffic_policy.disabled') return disabled === null ? 'the policy is enabled' : null;
  if (disabled !== null) return disabled;
  const rules = rulesOf(policy, kind);
  if (code === 'traffic_policy.no_rule') {
    const requests = kind === 'https' ? policy.phases.on_http_request : rules;
    const always = requests.find((rule) => isUnconditional(rule));
    const responses =
      kind !== 'https' ? [] : [...policy.phases.on_http_response, ...policy.phases.on_event_stream_message];
    // The response phase has a verdict of its own. A login has one, which sets its cookies.
    const isAlways =
      always !== undefined &&
      (responses.some(isUnconditional) || (responses.length === 0 && !requests.some(hasLogin)));
    return isAlways ? `rule ${labelOf(always)} applies to every request` : null;
  }
  if (code === 'traffic_policy.applied') {
    if (rules.length === 0) return 'the policy has no rules';
    const isEnding = rules.every(({ actions }) => {
      const entry = actions.findLastIndex((action) => isLogin(action));
      return actions.slice(entry + 1).some((action) => endingsOf(action).always);
    });
    return isEnding ? 'every rule of the policy ends the phase' : null;
  }
  // Without HTTP no response is possible: denied connections are closed.
  if (kind !== 'https' && code === 'traffic_policy.denied') return 'connections without HTTP are closed';
  const ways =
    kind !== 'https' && code === 'traffic_policy.closed' ? [code, 'traffic_policy.denied'] : [code];
  const isPossible = rules.some(({ actions }) =>
    actions.some((action) => ways.some((way) => endingsOf(action).codes.has(way))),
  );
  return isPossible ? null : 'no action of the policy ends a request in this way';
}
