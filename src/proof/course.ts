import { compile } from '../cel/program.ts';
import type { EdgeConfig, HttpsEdgeConfig, RouteConfig } from '../edge/document/schema.ts';
import { brandingOf } from '../engine/branding.ts';
import { whenEnds } from '../filters/facts.ts';
import { exemptOf, isEnforced, isGuard } from '../filters/gates.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../filters/table.ts';
import { checkAttachedPolicy } from '../policy/document/check.ts';
import type { Rule } from '../policy/document/document.ts';
import { scopeFor } from '../policy/env/scopes.ts';
import { looseSource } from '../policy/loose_path.ts';
import { type Region, type Verdict, CLIENT, holds, rangesOf, valueOf, without } from './region.ts';
import { type Machine, orAbsent, patternMachine } from './texts.ts';

/** The certificate does not show what it claims. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

/** How a route treats all requests of a region. */
export interface Course {
  /** The module or action that stops them; null if they reach the backend. */
  readonly stopped: string | null;
  /** Modules and actions that may stop some of the requests. */
  readonly mayStop: readonly string[];
  /** Modules and actions that all requests pass, without exemptions. */
  readonly passed: readonly string[];
  /** Everything that acts on the requests, with its settings, and rules that match other spellings of the path. */
  readonly effects: readonly unknown[];
  /** Whether those rules only guard: they may stop a request, and have no other effect. */
  readonly guardsOnly: boolean;
}

interface Walk {
  readonly config: EdgeConfig;
  region: Region;
  readonly mayStop: string[];
  readonly passed: string[];
  readonly effects: unknown[];
  guardsOnly: boolean;
}

/** Follows the filters of a route in their order. Throws `Refused` if one treats requests of the region differently. */
export function courseOf(
  config: EdgeConfig,
  edge: HttpsEdgeConfig,
  route: RouteConfig,
  region: Region,
): Course {
  const walk: Walk = { config, region, mayStop: [], passed: [], effects: [], guardsOnly: true };
  const all = [...MODULE_FACTS.values()].flatMap(({ type, place, ...facts }) => {
    const own = (place === 'edge' ? edge : route)[type as never] as
      | { readonly enabled?: boolean }
      | undefined;
    return own?.enabled === true ? [{ type, facts, own }] : [];
  });
  // Modules behind the one that stops a request may still edit the response.
  walk.effects.push(all.map(({ type, facts, own }) => (facts.ends === 'never' ? [type, own] : type)));
  for (const { type, facts, own } of all) {
    const stopped = facts.runsActions === true ? policy(walk, own as never) : module(walk, type, facts, own);
    if (stopped !== null) return { ...walk, stopped };
  }
  return { ...walk, stopped: null };
}

type Facts = Pick<Parameters<typeof whenEnds>[0], 'addressLists'>;

/** Whether a filter lets the addresses of the region pass; null if it does not decide by them alone. */
function byAddress({ config, region }: Walk, { addressLists }: Facts, own: object): Verdict | null {
  const lists = addressLists?.(own as never);
  if (lists === undefined) return null;
  const rules = lists.policies.flatMap((id) => config.ip_policies[id]?.rules ?? []);
  const [allow, deny] = (['allow', 'deny'] as const).map((action) =>
    rangesOf([...lists[action], ...rules.flatMap((rule) => (rule.action === action ? [rule.cidr] : []))]),
  ) as [Machine | null, Machine | null];
  if (allow === null || deny === null) return 'unknown';
  const passes = [
    { machine: allow, value: true },
    { machine: deny, value: false },
  ];
  if (without(region, CLIENT, ...passes)) return 'false';
  const isStopped = passes.some(({ machine, value }) => !without(region, CLIENT, { machine, value: !value }));
  return isStopped ? 'unknown' : 'true';
}

function module(
  walk: Walk,
  type: string,
  facts: Omit<NonNullable<ReturnType<typeof MODULE_FACTS.get>>, 'type' | 'place'>,
  own: object,
): string | null {
  const isMatch = (pattern: string): Verdict =>
    holds(walk.region, 'header user-agent', orAbsent(patternMachine(pattern)));
  const lists = facts.patternLists?.(own as never);
  const denied = lists === undefined ? null : [...(lists['deny'] ?? []), String.raw`\A\z`].map(isMatch);
  const allowed = (lists?.['allow'] ?? []).map(isMatch);
  const verdict =
    byAddress(walk, facts, own) ??
    (denied === null
      ? null
      : anyOf(allowed) === 'true'
        ? 'true'
        : anyOf([...allowed, ...denied]) === 'false'
          ? 'true'
          : anyOf(allowed) === 'false' && anyOf(denied) === 'true'
            ? 'false'
            : 'unknown');
  if (verdict === 'unknown') throw new Refused(`${type} treats requests of a region differently`);
  if (verdict === 'false') return type;
  if (verdict === null) walk.effects.push([type, own]);
  if (verdict === null && facts.ends === 'may') walk.mayStop.push(type);
  // A filter with exemptions proves nothing about the requests that pass it.
  if (exemptOf(facts, own) === null) walk.passed.push(type);
  return null;
}

function anyOf(all: readonly Verdict[]): Verdict {
  return all.includes('true') ? 'true' : all.every((each) => each === 'false') ? 'false' : 'unknown';
}

function policy(walk: Walk, { value: text }: { readonly value: string }): string | null {
  const branding = brandingOf(walk.config.service_name, walk.config.underscore_headers);
  const { document } = checkAttachedPolicy({ pointer: '', text }, { branding, attachedTo: 'https_edge' });
  if (document === null) throw new Refused('a policy has errors');
  const { on_http_request: rules, ...others } = document.phases;
  if (!document.enabled) return null;
  if (others.on_tcp_connect.length > 0) throw new Refused('a policy acts on connections');
  walk.effects.push(Object.values(others).map((phase) => phase.map(plain)));
  for (const rule of rules) {
    const stopped = ruled(walk, rule, branding.service);
    if (stopped !== null) return stopped;
  }
  return null;
}

const plain = ({ expressions, actions }: Rule): unknown => [
  expressions.map(({ text }) => text),
  actions.map(({ type, config }) => [type, config]),
];

function ruled(walk: Walk, rule: Rule, service: string): string | null {
  const programs = rule.expressions.map(
    ({ text }) => compile(text, scopeFor('on_http_request', { service })).program!,
  );
  for (const program of programs) {
    const value = valueOf(walk.region, program.typed.ast.root);
    if (value === 'unknown')
      throw new Refused(`\`${program.source}\` is not the same for all requests of a region`);
    if (value === 'error') return 'traffic_policy';
    if (value === 'true') continue;
    const isGuarding = rule.actions.some(({ type, config }) => isGuard(ACTION_FACTS.get(type)!, config));
    // It also applies if another spelling of the path matches it.
    if (!isGuarding || !programs.some((each) => typeof looseSource(each) === 'object')) return null;
    walk.effects.push(['guard', plain(rule)]);
    walk.guardsOnly &&= rule.actions.every(({ type, config }) => isGuard(ACTION_FACTS.get(type)!, config));
    return null;
  }
  for (const { type, config } of rule.actions) {
    const facts = ACTION_FACTS.get(type)!;
    const when = whenEnds(facts, config);
    if (when !== 'never' && facts.ends.how.includes('forwarded'))
      throw new Refused(`${type} continues at another endpoint`);
    const verdict = when === 'may' ? byAddress(walk, facts, config) : null;
    if (verdict === 'unknown') throw new Refused(`${type} treats requests of a region differently`);
    walk.effects.push([type, config]);
    if (verdict === 'false' || when === 'always') return type;
    if (when === 'may' && verdict === null) walk.mayStop.push(type);
    if (isEnforced(facts, config) && exemptOf(facts, config) === null) walk.passed.push(type);
    const changes = facts.leavesRequest ? [] : (facts.changes?.(config as never) ?? ['*']);
    walk.region = { ...walk.region, changed: [...walk.region.changed, ...changes] };
  }
  return null;
}
