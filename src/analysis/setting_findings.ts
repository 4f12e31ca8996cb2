import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { exemptOf } from '../filters/gates.ts';
import { ACTION_FACTS, MODULE_FACTS } from '../filters/table.ts';
import type { LoginTimes, Trips } from '../filters/fact_values.ts';
import { looseText } from '../http/readings.ts';
import { patternDfa } from './fields.ts';
import type { Found } from './finding.ts';
import { areAlike } from './routed.ts';
import type { RouteOf } from './cells.ts';
import type { Model } from './model.ts';
import { shortestText } from './texts/intersect.ts';
import { counted } from '../diagnostics/message_text.ts';

/** A module or an action in use. */
export interface FilterUse {
  readonly face: 'module' | 'action';
  readonly type: string;
  readonly config: object;
  readonly pointer: string;
  /** Name of the backend of its route; null without one. */
  readonly backend: string | null;
}

/** What users state about their configuration. */
export interface FindingOptions {
  /** For how long a user who lost access may keep it, ms; default: 30 days for sessions with a stated end. */
  readonly sessionBoundMs?: number;
}

const DAY_MS = 86_400_000;
/** More requests than one process serves, a second. */
const MOST_PER_SECOND = 1_000_000;
const SERVER_ERROR = 500;

/** Settings that have another effect than they seem to have, or none. */
export function settingFindings(
  config: EdgeConfig,
  uses: readonly FilterUse[],
  options: FindingOptions,
): readonly Found[] {
  return uses.flatMap((use): readonly Found[] => {
    const facts = use.face === 'module' ? MODULE_FACTS.get(use.type) : ACTION_FACTS.get(use.type);
    if (facts === undefined) return [];
    const { pointer } = use;
    const found: Found[] = [];
    const keepsMs = facts.keepsSessionMs?.(use.config as never) ?? 0;
    const { sessionBoundMs } = options;
    const isLong =
      sessionBoundMs === undefined ? isFinite(keepsMs) && keepsMs > 30 * DAY_MS : keepsMs > sessionBoundMs;
    if (isLong)
      found.push({
        code: 'analysis.long_session',
        pointer,
        detail: isFinite(keepsMs)
          ? `up to ${inWords(keepsMs)}`
          : 'without end, as long as the session is used',
      });
    // Preflights have no content.
    if (exemptOf(facts, use.config) === 'options') found.push({ code: 'analysis.passes_options', pointer });
    const pattern = 'replacesInUrl' in facts ? facts.replacesInUrl?.(use.config as never).from : null;
    if (typeof pattern === 'string' && !pattern.includes('${') && isNeverInUrl(pattern))
      found.push({
        code: 'analysis.dead_url_pattern',
        pointer: pointerTo(pointer, 'from'),
        detail: `\`${pattern}\``,
      });
    const times = facts.sessionTimes?.(use.config as never);
    if (times !== undefined) found.push(...uselessTimes(times, pointer));
    const trips = facts.trips?.(use.config as never);
    if (trips !== undefined) found.push(...ofBreaker(config, use, trips));
    return found;
  });
}

/** Whole URLs of requests: their paths are canonical, and begin with a slash. */
const URLS = String.raw`\Ahttps?://[^/?#\s]*/[^#\s]*\z`;

function isNeverInUrl(pattern: string): boolean {
  const [dfa, urls] = [patternDfa(pattern), patternDfa(URLS)!];
  const sets = [urls, ...(dfa === null ? [] : [dfa])].map((each) => ({ dfa: each, accepted: true }));
  return shortestText(sets) === 'none';
}

/** The finding about a time that is not shorter than the longest session. */
const USELESS = { idle: 'analysis.unused_inactivity', check: 'analysis.unused_check' } as const;

function uselessTimes({ mostMs, within }: LoginTimes, pointer: string): readonly Found[] {
  if (mostMs === 0) return [];
  return within
    .filter(({ ms }) => ms >= mostMs)
    .map(({ kind, at }): Found => ({ code: USELESS[kind], pointer: pointer + at }));
}

function inWords(ms: number): string {
  return ms >= 2 * DAY_MS
    ? counted(Math.round(ms / DAY_MS), 'day')
    : counted(Math.round(ms / 60_000), 'minute');
}

function ofBreaker(
  config: EdgeConfig,
  { pointer, backend }: FilterUse,
  { volume, windowMs, errorThreshold }: Trips,
): readonly Found[] {
  if (volume / (windowMs / 1_000) > MOST_PER_SECOND)
    return [
      {
        code: 'analysis.breaker_never_trips',
        pointer,
        detail: `${counted(volume, 'request')} in ${windowMs / 1_000} s`,
      },
    ];
  if (backend !== null && errorThreshold > 0 && neverFails(config, backend))
    return [{ code: 'analysis.breaker_never_trips', pointer, causes: [pointerTo('/backends', backend)] }];
  if (errorThreshold === 0)
    return [
      { code: 'analysis.breaker_one_error', pointer, detail: 'even a success opens it, at a share of 0' },
    ];
  return volume <= 1 || errorThreshold * volume < 1 ? [{ code: 'analysis.breaker_one_error', pointer }] : [];
}

/** Whether the edge itself responds, without an error of the server. */
function neverFails({ backends }: EdgeConfig, name: string): boolean {
  const { http_response: response, weighted, failover } = backends[name] ?? {};
  if (response !== undefined) return response.status_code < SERVER_ERROR;
  const parts = weighted === undefined ? failover : Object.keys(weighted);
  if (parts === undefined || parts.length === 0) return false;
  return failover === undefined
    ? parts.every((each) => neverFails({ backends } as EdgeConfig, each))
    : neverFails({ backends } as EdgeConfig, parts[0]!);
}

/** Members of failovers behind one that responds whatever happens. */
export function deadBackends({ backends }: EdgeConfig): readonly Found[] {
  return Object.entries(backends).flatMap(([name, { failover = [] }]) => {
    const last = failover.findIndex((each) => backends[each]?.http_response !== undefined);
    if (last < 0) return [];
    const pointer = pointerTo(pointerTo('/backends', name), 'failover');
    return failover.slice(last + 1).map((_, after): Found => ({
      code: 'analysis.dead_backend',
      pointer: pointerTo(pointer, last + 1 + after),
      causes: [pointerTo(pointer, last)],
    }));
  });
}

/** Routes that do what the next less specific route of their edge does. */
export function redundantRoutes(model: Model): readonly Found[] {
  return model.compiled.https.flatMap(({ name, pipelines }) => {
    const edge = model.config.edges.https[name];
    if (edge === undefined) return [];
    // Whether a route with a host comes before one without depends on both.
    if (edge.routes.some(({ match }) => !match.startsWith('/'))) return [];
    const respelt = edge.routes.map(({ match }) => match).filter((match) => looseText(match) !== match);
    const prefixes = new Map<string, number>();
    for (const [index, { match, match_type: type }] of edge.routes.entries())
      if (type === 'path_prefix') prefixes.set(match, index);
    const routeAt = (index: number): RouteOf => ({
      edgeName: name,
      edge,
      route: edge.routes[index]!,
      pipeline: pipelines[index]!,
    });
    return edge.routes.flatMap(({ match, match_type: type }, index): readonly Found[] => {
      const parent = parentOf(match, type === 'path_prefix' ? match.length - 1 : match.length, prefixes);
      if (parent === null || !areAlike(routeAt(index), model, routeAt(parent), model)) return [];
      if (respelt.some((other) => mayMeet(other, match))) return [];
      return [
        {
          code: 'analysis.redundant_route',
          pointer: pipelines[index]!.pointer,
          causes: [pipelines[parent]!.pointer],
        },
      ];
    });
  });
}

/**
 * Whether two selectors may be for spellings of one path: without either of them other requests would be refused as
 * ambiguous.
 */
function mayMeet(one: string, other: string): boolean {
  const [here, there] = [looseText(one), looseText(other)];
  return here.startsWith(there) || there.startsWith(here);
}

function parentOf(match: string, longest: number, prefixes: ReadonlyMap<string, number>): number | null {
  for (let end = longest; end > 0; end--) {
    const index = prefixes.get(match.slice(0, end));
    if (index !== undefined) return index;
  }
  return null;
}
