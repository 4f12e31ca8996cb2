import { serviceNaming } from '../../engine/naming.ts';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import { ACTIONS } from '../../policy/actions/table.ts';
import { checkCarriedPolicy } from '../../policy/document/check.ts';
import type { Action, PolicyDocument, Rule } from '../../policy/document/document.ts';
import { POLICY_REASONS, type PolicyCode } from '../../policy/verdicts.ts';
import type { ExpressionLimits } from './expression_points.ts';
import { type IpDecider, rangesOfAction } from './ip_points.ts';
import { alwaysBefore, endingsOf, firstContradiction, isUnconditional, whatShadows } from './policy_facts.ts';
import { type CoveragePoint, pointsWith } from './point.ts';
import type { PlacedRoute } from './placed_routes.ts';
import { keys } from './exchange_hits.ts';

/** The policy of a route as it was read; null when there is none that runs. */
export function policyOf({ pointer, route, kind }: PlacedRoute, config: EdgeConfig): PolicyDocument | null {
  const policy = route.traffic_policy;
  if (policy === undefined || !policy.enabled) return null;
  const at = `${pointer}/traffic_policy/value`;
  const text = policy.value;
  const naming = serviceNaming(config.service_name);
  const carried = { file: { name: at, text }, pointer: at, span: { start: 0, end: text.length }, text };
  return checkCarriedPolicy(carried, { naming, carriedBy: `${kind}_edge` }).document;
}

/** Rules of the phases that a request or a connection comes through, in order. */
export function rulesOf({ phases }: PolicyDocument, kind: PlacedRoute['kind']): Rule[] {
  if (kind !== 'https') return [...phases.on_tcp_connect];
  return [...phases.on_http_request, ...phases.on_http_response, ...phases.on_event_stream_message];
}

/** How traces name a rule. */
export function labelOf({ name, phase, index }: Rule): string {
  return name ?? `${phase}[${index}]`;
}

/** That each rule of a policy applies, each action runs, and each comes to all that it declares. */
export function policyPoints(placed: PlacedRoute, config: EdgeConfig): CoveragePoint[] {
  const policy = policyOf(placed, config);
  if (policy === null) return [];
  const disabled = policy.enabled ? null : 'the policy is switched off';
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
      says: `rule ${labelOf(rule)} applies`,
      impossible: shadow,
      seen: { by: 'hit', keys: [keys.rule(rule.pointer)] },
    };
    points.push(applies);
    for (const action of rule.actions) points.push(...actionPoints(action, rule, placed, shadow));
  }
  points.push(...verdictPoints(placed, policy, disabled));
  return points;
}

/** Actions of policies that decide by the address of the client. */
export function ipActions(routes: readonly PlacedRoute[], config: EdgeConfig): IpDecider[] {
  return routes.flatMap((placed) => {
    const policy = policyOf(placed, config);
    const actions = policy === null ? [] : rulesOf(policy, placed.kind).flatMap((rule) => rule.actions);
    return actions.flatMap((action): IpDecider[] =>
      action.type === 'restrict-ips'
        ? [
            {
              pointer: action.pointer,
              route: placed.pointer,
              rules: rangesOfAction(action.pointer, action.config, config),
            },
          ]
        : [],
    );
  });
}

/** What rules know of their expressions before any is evaluated. */
export function expressionLimits(routes: readonly PlacedRoute[], config: EdgeConfig): ExpressionLimits {
  const untrue = new Map<string, string>();
  const unreached = new Map<string, string>();
  for (const placed of routes) {
    const policy = policyOf(placed, config);
    if (policy === null) continue;
    for (const rule of rulesOf(policy, placed.kind)) {
      const shadow = policy.enabled ? alwaysBefore(rule, policy, labelOf) : 'the policy is switched off';
      const clash = firstContradiction(rule);
      for (const [index, { pointer }] of rule.expressions.entries()) {
        if (shadow !== null) unreached.set(pointer, shadow);
        else if (clash !== null && index === clash.at) untrue.set(pointer, clash.says);
        else if (clash !== null && index > clash.at) unreached.set(pointer, clash.says);
      }
    }
  }
  return { untrue, unreached };
}

function actionPoints(
  action: Action,
  rule: Rule,
  { pointer: route, kind: carrier }: PlacedRoute,
  shadow: string | null,
): CoveragePoint[] {
  const { type, pointer } = action;
  const at = rule.actions.indexOf(action);
  const ender = rule.actions.slice(0, at).find((before) => endingsOf(before).always);
  const impossible =
    shadow ?? (ender === undefined ? null : `${ender.type} before it in its rule always ends the phase`);
  const base = { pointer, span: null, routes: [route] } as const;
  const label = `${type} of rule ${labelOf(rule)}`;
  const runs: CoveragePoint = {
    ...base,
    id: `actions ${pointer}`,
    kind: 'actions',
    says: `${label} runs`,
    impossible,
    seen: { by: 'hit', keys: [keys.action(pointer)] },
  };
  const codes = Object.entries(ACTIONS[type].says).filter(([code]) => code !== 'failed');
  if (codes.length < 2) return [runs];
  const kind = type === 'circuit-breaker' ? 'breakers' : 'reasons';
  const comes = codes.map(([code, says]) => {
    const whole = `${type.replaceAll('-', '_')}.${code}`;
    return {
      id: `${kind} ${pointer} ${whole}`,
      says: `${whole} by ${label}: ${says}`,
      impossible: impossible ?? impossibleCode(action, code, carrier),
      seen: { by: 'hit', keys: [keys.reason(pointer, whole)] } as const,
    };
  });
  return [runs, ...pointsWith({ ...base, kind }, comes)];
}

/** What an action of an HTTP phase never comes to. */
function impossibleCode({ type, config }: Action, code: string, carrier: PlacedRoute['kind']): string | null {
  if (type === 'deny' && (code === 'closed') === (carrier === 'https'))
    return `that is for connections ${carrier === 'https' ? 'without' : 'with'} HTTP`;
  if (code === 'not_run' && (type === 'oauth' || type === 'openid-connect' || type === 'saml'))
    return 'in cases a provider stands in for the one that is meant';
  if ((type === 'openid-connect' || type === 'oauth') && code === 'answered')
    return 'a gate of this protocol has no further paths';
  if (type === 'openid-connect' && code === 'not_authorized') return 'everybody who can log in is let in';
  if (type === 'restrict-ips') {
    const { allow, deny, ip_policies: policies } = config;
    if (code === 'denied' && deny.length === 0 && policies.length === 0) return 'no range is denied';
    if (code === 'allowed' && allow.length === 0 && policies.length === 0) return 'no range is allowed';
  }
  return null;
}

/** What the policy as a whole comes to. That it fails is a fault, and nothing that a policy is written for. */
function verdictPoints(
  { pointer: route, kind }: PlacedRoute,
  policy: PolicyDocument,
  disabled: string | null,
): CoveragePoint[] {
  const pointer = `${route}/traffic_policy`;
  return Object.entries(POLICY_REASONS).flatMap(([code, { says }]): CoveragePoint[] => {
    if (code === 'traffic_policy.failed') return [];
    return [
      {
        id: `reasons ${pointer} ${code}`,
        kind: 'reasons',
        pointer,
        span: null,
        says: `${code}: ${says}`,
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
  if (code === 'traffic_policy.disabled') return disabled === null ? 'the policy is switched on' : null;
  if (disabled !== null) return disabled;
  const rules = rulesOf(policy, kind);
  if (code === 'traffic_policy.no_rule') {
    const requests = kind === 'https' ? policy.phases.on_http_request : rules;
    const always = requests.find((rule) => isUnconditional(rule));
    const responses =
      kind !== 'https' ? [] : [...policy.phases.on_http_response, ...policy.phases.on_event_stream_message];
    const isAlways = always !== undefined && (responses.length === 0 || responses.some(isUnconditional));
    return isAlways ? `rule ${labelOf(always)} applies to every request` : null;
  }
  if (code === 'traffic_policy.applied') {
    if (rules.length === 0) return 'the policy has no rules';
    const isEnding = rules.every(({ actions }) => actions.some((action) => endingsOf(action).always));
    return isEnding ? 'every rule of the policy ends what it applies to' : null;
  }
  // Without HTTP there is nobody to be told: whoever is denied is cut off.
  if (kind !== 'https' && code === 'traffic_policy.denied') return 'connections without HTTP are closed';
  const ways =
    kind !== 'https' && code === 'traffic_policy.closed' ? [code, 'traffic_policy.denied'] : [code];
  const isPossible = rules.some(({ actions }) =>
    actions.some((action) => ways.some((way) => endingsOf(action).codes.has(way))),
  );
  return isPossible ? null : 'no action of the policy ends a request so';
}
