import { compile } from '../cel/program.ts';
import type { EdgeConfig, HttpsEdgeConfig, RouteConfig } from '../edge/document/schema.ts';
import { brandingOf } from '../engine/branding.ts';
import { type ActionFacts, whenEnds } from '../filters/facts.ts';
import { exemptOf, isEnforced, isGuard } from '../filters/gates.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../filters/table.ts';
import { checkAttachedPolicy } from '../policy/document/check.ts';
import type { Rule } from '../policy/document/document.ts';
import { scopeFor } from '../policy/env/scopes.ts';
import { looseSource } from '../policy/loose_path.ts';
import {
  CLIENT,
  type Region,
  USER_AGENT,
  type Verdict,
  holds,
  rangesOf,
  valueOf,
  without,
} from './region.ts';
import { NOTHING, patternMachine } from './sets.ts';

/** The certificate does not show what it claims. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

/** A module or an action that the requests of a region meet on their way to the backend. */
export interface Met {
  readonly type: string;
  readonly isMet: true | 'unknown';
  /** Whether it stops them; `false` for a module that stops no request. */
  readonly stops: Verdict;
  /** Whether it certainly stops none of them: it decides nothing, and cannot fail. */
  readonly passes: boolean;
  /** Whether a request that passes it has fulfilled what it asks. */
  readonly isGate: boolean;
  readonly isLogin: boolean;
  /** Its settings, as far as they matter. */
  readonly effect: unknown;
}

/** What requests of a region meet on a route, in order. Throws if that depends on more than the route. */
export function courseOf(
  config: EdgeConfig,
  edge: HttpsEdgeConfig,
  route: RouteConfig,
  region: Region,
): readonly Met[] {
  return [...MODULE_FACTS.values()].flatMap(({ type, place, ...facts }): readonly Met[] => {
    const own = (place === 'edge' ? edge : route)[type as never] as { enabled?: boolean } | undefined;
    if (own?.enabled !== true) return [];
    if (facts.runsActions === true) return policy(config, own as never, region, route);
    const decided = byAddress(config, facts, own, region) ?? byAgent(facts, own, region);
    const stops = facts.ends !== 'never' && (decided === true || 'unknown');
    // A filter with exemptions proves nothing about the requests that pass it.
    const isGate = exemptOf(facts, own) === null;
    // Each route counts its own requests.
    const counted = facts.remembersMs && [route.match, route.match_type];
    const effect =
      typeof decided === 'boolean' ? null : [own, facts.addressLists && config.ip_policies, counted];
    const passes = decided === false || (facts.ends === 'never' && !hasTemplates(own));
    return [{ type, isMet: true, stops, passes, isGate, isLogin: facts.login === true, effect }];
  });
}

const hasTemplates = (config: object): boolean => JSON.stringify(config).includes('${');

type Lists = Pick<Parameters<typeof whenEnds>[0], 'addressLists'>;

/** Whether a filter stops all addresses of the region; null if it does not decide by them alone. */
function byAddress(
  { ip_policies: policies }: EdgeConfig,
  { addressLists }: Lists,
  own: object,
  region: Region,
) {
  const lists = addressLists?.(own as never);
  if (lists === undefined) return null;
  const rules = lists.policies.flatMap((id) => policies[id]?.rules ?? []);
  const [allow, deny] = (['allow', 'deny'] as const).map((action) =>
    rangesOf([...lists[action], ...rules.flatMap((rule) => (rule.action === action ? [rule.cidr] : []))]),
  );
  if (typeof allow !== 'string' || typeof deny !== 'string') return 'unknown';
  const passes = [
    { machine: patternMachine(allow), value: true },
    { machine: patternMachine(deny), value: false },
  ];
  if (without(region, CLIENT, ...passes)) return true;
  return passes.every(({ machine, value }) => without(region, CLIENT, { machine, value: !value }))
    ? false
    : 'unknown';
}

type Facts = Omit<NonNullable<ReturnType<typeof MODULE_FACTS.get>>, 'type' | 'place'>;

/** The same by user agents: an allowed pattern outweighs denied ones, and an absent agent is denied. */
function byAgent({ patternLists }: Facts, own: object, region: Region): Verdict | null {
  const lists = patternLists?.(own as never);
  if (lists === undefined) return null;
  const [allowed, denied] = [lists['allow'] ?? [], [...(lists['deny'] ?? []), String.raw`\A\z`]].map((list) =>
    holds(region, USER_AGENT, list.length === 0 ? NOTHING : list.map((each) => `(?:${each})`).join('|')),
  );
  return allowed === true || denied === false ? false : allowed === false ? denied! : 'unknown';
}

const plain = ({ expressions, actions }: Rule): unknown => [
  expressions.map(({ text }) => text),
  actions.map(({ type, config }) => [type, config]),
];

function policy(
  config: EdgeConfig,
  { value }: { readonly value: string },
  start: Region,
  { match, match_type: matchType }: RouteConfig,
): readonly Met[] {
  const branding = brandingOf(config.service_name, config.underscore_headers);
  const { document } = checkAttachedPolicy(
    { pointer: '', text: value },
    { branding, attachedTo: 'https_edge' },
  );
  if (document === null) throw new Refused('a policy has errors');
  if (!document.enabled) return [];
  const { on_http_request: rules, ...others } = document.phases;
  if (others.on_tcp_connect.length > 0) throw new Refused('a policy acts on connections');
  const policyItself = { type: 'traffic_policy', isMet: true, isGate: false, isLogin: false } as const;
  const effect = Object.values(others).map((phase) => phase.map(plain));
  const isIdle = Object.values(others).every((phase) => phase.length === 0);
  const met: Met[] = [{ ...policyItself, stops: 'unknown', passes: isIdle, effect }];
  const changed = [...start.changed];
  const region = { ...start, changed };
  const counting = rules.flatMap(({ actions }) => actions.filter(({ type }) => countsRequests(type)));
  for (const rule of rules) {
    const isMet = applies(rule, region, branding.service);
    // An expression that fails stops the request.
    if (isMet === 'error') met.push({ ...policyItself, stops: true, passes: false, effect: null });
    if (isMet === 'unknown')
      met.push({ ...policyItself, stops: 'unknown', passes: false, effect: plain(rule) });
    if (isMet === false || isMet === 'error') continue;
    for (const action of rule.actions) {
      const { type, config: own } = action;
      const facts = ACTION_FACTS.get(type)!;
      const when = whenEnds(facts, own);
      if (when !== 'never' && facts.ends.how.includes('forwarded'))
        throw new Refused(`${type} continues at another endpoint`);
      const decided = when === 'may' ? byAddress(config, facts, own, region) : null;
      const stops = when === 'always' || decided === true || 'unknown';
      const passes = decided === false || (when === 'never' && cannotFail(facts, own));
      const isGate = isEnforced(facts, own) && exemptOf(facts, own) === null;
      // Each action counts its own requests; those before it in the policy tell it apart from equal ones.
      const counted = countsRequests(type) && [match, matchType, counting.indexOf(action)];
      met.push({ type, isMet, stops, passes, isGate, isLogin: facts.login === true, effect: [own, counted] });
      if (!facts.leavesRequest) changed.push(...(facts.changes?.(own as never) ?? ['*']));
    }
  }
  return met;
}

/** A `Host` may be refused, and templates may fail. */
const cannotFail = (facts: ActionFacts<never>, config: object): boolean =>
  (facts.speaksOnly ?? facts.onlyLogs ?? facts.removes) !== undefined &&
  facts.changes?.(config as never).includes('headers') !== true &&
  !hasTemplates(config);

const countsRequests = (type: Rule['actions'][number]['type']): boolean =>
  ACTION_FACTS.get(type)!.remembersMs !== undefined;

function applies({ expressions, actions }: Rule, region: Region, service: string): Verdict {
  const all = expressions.map(({ text }) => compile(text, scopeFor('on_http_request', { service })).program!);
  for (const { typed } of all) {
    const value = valueOf(region, typed.ast.source, typed.ast.root);
    if (value === true) continue;
    // A rule that guards also applies if another spelling of the path fulfils it.
    const guards = actions.some(({ type, config }) => isGuard(ACTION_FACTS.get(type)!, config));
    const isLoose = value === false && guards && all.some((each) => typeof looseSource(each) === 'object');
    return isLoose ? 'unknown' : value;
  }
  return true;
}
