import type { HttpsEdgeConfig } from '../edge/document/schema.ts';
import { exemptOf } from '../filters/gates.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../filters/table.ts';
import { NO_FIELDS, firstValue } from '../http/fields.ts';
import type { Rule } from '../policy/document/document.ts';
import type { Cell } from './cells.ts';
import { whyTooLarge } from './diagram.ts';
import { surelyRedirected } from './redirects.ts';
import type { ExaminedPolicy } from './expression_findings.ts';
import { type Examined, type Found, possible } from './finding.ts';
import { type Model, modulesOf } from './model.ts';
import { AT_START } from './outcome.ts';
import { CLIENTS, aroundRule, otherSpellings } from './rule_gates.ts';
import { Seer, isStopped, mentions } from './seer.ts';
import { type Witness, observe, witnessOf } from './witness.ts';

/** Gates that requests go around; each was run through the engine. A route is reported once, whatever its hosts. */
export function gateFindings({ model, cells }: Examined): readonly Found[] {
  return Array.from(cells).flatMap(([pointer, own]): readonly Found[] => {
    for (const cell of own) {
      const found = aroundRoute(model, pointer, cell);
      if (found !== null) return [found];
    }
    return [];
  });
}

/** A request that goes around the gates of a route, for the hosts of a cell. */
function aroundRoute(model: Model, pointer: string, cell: Cell): Found | null {
  const routed = cell.routed[0]!;
  if (typeof routed !== 'object') return null;
  const { route, edge } = routed;
  const backend = route.backend?.backend_id;
  const path = route.match.slice(Math.max(0, route.match.indexOf('/')));
  if (backend === undefined || path === '/' || path === '') return null;
  // Of routes that nothing can stop there is nothing to go around.
  if (modulesOf(edge, route).every(({ type }) => MODULE_FACTS.get(type)!.ends === 'never')) return null;
  const { values } = possible(cell, model.analysis.diagrams.true, () => true);
  const given = values === null ? null : witnessOf(values);
  if (given === null) return null;
  const names = model.backendNames(backend);
  const reaches = (witness: Witness): boolean => {
    const observed = observe(model, witness);
    return observed !== null && !isStopped(observed) && names.includes(observed.backend ?? '');
  };
  const { origin } = new URL(given.url);
  const at = (clientIp: string, other: string): Witness => ({ ...given, clientIp, url: `${origin}${other}` });
  const gated = CLIENTS.find((client) => {
    const observed = observe(model, at(client, path));
    return observed !== null && isStopped(observed) && observed.backend === null && observed.status !== 404;
  });
  if (gated === undefined) return null;
  // Servers take a folder without its last slash for the folder; rules for what is below it often leave that out on purpose.
  const others = [...(path.endsWith('/') ? [path.slice(0, -1)] : []), ...otherSpellings(path)];
  const passing = others.find((other) => reaches(at(gated, other)));
  if (passing !== undefined)
    return { code: 'analysis.spelling_bypass', pointer, witness: at(gated, passing) };
  const elsewhere = onOtherHost(edge, route.match, (url) => reaches({ ...given, clientIp: gated, url }));
  if (elsewhere !== null)
    return { code: 'analysis.open_host', pointer, witness: { ...given, clientIp: gated, url: elsewhere } };
  const below = `${path.replace(/\/$/, '')}/x`;
  if (route.match_type !== 'exact_path' || !reaches(at(gated, below))) return null;
  return { code: 'analysis.open_subpaths', pointer, witness: at(gated, below) };
}

/** The URL of a gated path on another host of the edge, if it is open there; null for a gate on all hosts. */
function onOtherHost(
  { hostports }: HttpsEdgeConfig,
  match: string,
  isOpen: (url: string) => boolean,
): string | null {
  if (match.startsWith('/')) return null;
  const path = match.slice(match.indexOf('/'));
  const hosts = hostports.map((each) => each.replace(/:\d+$/, '').replace(/^\*/, 'any'));
  const urls = hosts.map((host) => `https://${host}${path}`);
  return urls.find((url) => !url.startsWith(`https://${match}`) && isOpen(url)) ?? null;
}

/** What goes around the rules of a policy, redirects that lead to themselves, and rules that see a rewritten URL. */
export function ruleGateFindings(policy: ExaminedPolicy, dead: ReadonlySet<string>): readonly Found[] {
  const rules = policy.document.phases.on_http_request;
  const seer = new Seer(policy);
  return rules.flatMap((rule, index): readonly Found[] => {
    try {
      if (dead.has(rule.pointer)) return afterRewrite(seer, rules.slice(0, index), rule);
      const before = rules.slice(0, index);
      return aroundRule(seer, rule).concat(loops(seer, rule), afterRewrite(seer, before, rule));
    } catch (error) {
      whyTooLarge(error);
      return [];
    }
  });
}

const HOPS = 6;

function loops(seer: Seer, rule: Rule): readonly Found[] {
  if (!rule.actions.some(({ type }) => ACTION_FACTS.get(type)!.ends.how.includes('redirected'))) return [];
  if (rule.actions.some(({ type }) => ACTION_FACTS.get(type)!.login === true)) return [];
  const plain = seer.requestFor([rule]);
  if (plain === null) return [];
  const idle = toItself(seer, rule, plain);
  if (idle.length > 0) return idle;
  const { model } = seer.policy.place;
  const moved = rule.actions
    .map(({ type, config }) => surelyRedirected(model, ACTION_FACTS.get(type)!, config, AT_START))
    .reduce((sum, each) => model.analysis.diagrams.or(sum, each), model.analysis.diagrams.false);
  const tried = [plain, seer.requestFor([rule], moved)];
  for (const found of tried) {
    const loop = found === null ? [] : loopFrom(seer, rule, found.witness);
    if (loop.length > 0) return loop;
  }
  return [];
}

function loopFrom(seer: Seer, rule: Rule, start: Witness): readonly Found[] {
  let witness = start;
  for (let hop = 0; hop < HOPS; hop++) {
    const observed = seer.run(witness);
    // Further hops may be redirects of other rules.
    if (observed === null || (hop === 0 && !seer.isBy(observed, rule)) || observed.backend !== null)
      return [];
    const location = firstValue(observed.looks.response?.headers ?? NO_FIELDS, 'location');
    if (location === undefined || !URL.canParse(location, witness.url)) return [];
    witness = Object.assign({}, witness, { url: new URL(location, witness.url).href });
  }
  return [{ code: 'analysis.redirect_loop', pointer: rule.pointer, witness: start }];
}

/** A redirect whose target is the URL that its rule asks for. */
function toItself(
  seer: Seer,
  rule: Rule,
  { witness, cell: { routed } }: NonNullable<ReturnType<Seer['requestFor']>>,
): readonly Found[] {
  const [action] = rule.actions;
  const facts = ACTION_FACTS.get(action!.type)!;
  const edit = facts.replacesInUrl?.(action!.config as never);
  if (edit?.from !== null || edit.to.includes('$') || !URL.canParse(edit.to)) return [];
  // Rules about the query or the scheme redirect to the same path on purpose.
  if (mentions(rule, /query|Query|\buri\b|raw_path|scheme|protocol/)) return [];
  const [place] = routed;
  if (typeof place !== 'object') return [];
  const servesPlain = modulesOf(place.edge, place.route).some(
    ({ type, config }) => exemptOf(MODULE_FACTS.get(type)!, config) === 'plain',
  );
  if (servesPlain || new URL(edit.to).protocol !== 'https:') return [];
  const { model } = seer.policy.place;
  const moved = surelyRedirected(model, facts, action!.config, AT_START);
  if (seer.requestFor([rule], moved) !== null) return [];
  const observed = seer.run(witness);
  if (observed === null || isStopped(observed) || !seer.isBy(observed, rule)) return [];
  return [{ code: 'analysis.redirect_to_itself', pointer: rule.pointer, witness }];
}

/** A request that fulfils a rule as it was sent, but no longer when the rule is reached, because its URL was rewritten. */
function afterRewrite(seer: Seer, before: readonly Rule[], rule: Rule): readonly Found[] {
  if (!mentions(rule, /\breq\.url\b|\bgetQueryParam\b|\bhasQueryParam\b/)) return [];
  const rewriting = before.filter(({ actions }) =>
    actions.some(({ type, config }) => {
      const facts = ACTION_FACTS.get(type)!;
      return !facts.leavesRequest && facts.changes?.(config as never).includes('url') === true;
    }),
  );
  for (const earlier of rewriting) {
    const found = seer.requestFor([earlier, rule]);
    const observed = found === null ? null : seer.run(found.witness);
    if (found === null || observed === null) continue;
    if (!seer.isBy(observed, earlier) || seer.isBy(observed, rule) || isStopped(observed)) continue;
    return [
      {
        code: 'analysis.match_after_rewrite',
        pointer: rule.pointer,
        causes: [earlier.pointer],
        witness: found.witness,
      },
    ];
  }
  return [];
}
