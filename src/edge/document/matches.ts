import { weakMemoize } from '../../caches/weak_memoize.ts';
import { meantWord } from '../../diagnostics/meant.ts';
import { quoted } from '../../diagnostics/message_text.ts';
import { parseAuthority } from '../../http/host.ts';
import { parseTarget } from '../../http/target.ts';
import type { SoundConfig, Report } from './report.ts';
import { covers, hostProblem } from './hosts.ts';
import { type SelectedRoute, checkSlashes } from './open_slashes.ts';
import { type SoundRoute, edgesOf } from './routes_of.ts';

/** A parsed route selector: `host` is null for any host of the edge; the path is canonical. */
interface Selector {
  readonly host: string | null;
  readonly path: string;
}

interface SelectorProblem {
  readonly message: string;
  readonly meant?: string;
  readonly hint?: string;
}

const BY_EXPRESSION = 'matches(…) in an expression of a traffic_policy takes a pattern';

/** Parses a path, a host, or a host followed by a path. */
function readSelector(match: string): Selector | SelectorProblem {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(match)) {
    const meant = match.replace(/^[^/]*\/\//, '').replace(/[?#].*$/, '');
    return { message: `${quoted(match)} is a URL; a match has no scheme`, meant };
  }
  const beyond = /[?#]/.exec(match);
  if (beyond !== null) {
    const part = beyond[0] === '?' ? 'query' : 'fragment';
    return {
      message: `a match has no ${part}: routes are chosen by host and path`,
      meant: match.slice(0, beyond.index),
    };
  }
  if (/^[\^~]|[$]$|[.][*+]|\\[dw]/.test(match))
    return { message: `${quoted(match)} is a pattern; a match is a path`, hint: BY_EXPRESSION };
  const slash = match.indexOf('/');
  const name = slash < 0 ? match : match.slice(0, slash);
  const path = slash < 0 ? '/' : match.slice(slash);
  const problem = slash === 0 ? null : selectorHostProblem(name, path);
  if (problem !== null) return problem;
  const target = parseTarget(path);
  if ('problem' in target) {
    const message = `${quoted(path)} is not a path: ${target.problem}`;
    return path.includes(' ') ? { message, meant: match.replaceAll(' ', '%20') } : { message };
  }
  return { host: slash === 0 ? null : name.toLowerCase(), path: target.path };
}

function selectorHostProblem(name: string, path: string): SelectorProblem | null {
  if (name.startsWith('*')) {
    return {
      message: 'a match cannot have a wildcard host; without a host it matches every host of its edge',
    };
  }
  const authority = parseAuthority(name);
  if (authority === null)
    return { message: `${quoted(name)} is neither a path, which starts with '/', nor a host name` };
  const rest = path === '/' ? '' : path;
  if (authority.port !== undefined) {
    return { message: `a match has a host without port`, meant: authority.host + rest };
  }
  const message = hostProblem(authority.host);
  if (message !== null) return { message };
  const isCanonical = name.toLowerCase() === authority.host;
  return isCanonical ? null : { message: `${quoted(name)} ends in a dot`, meant: authority.host + rest };
}

interface Selecting {
  readonly selector: Selector | SelectorProblem;
  /** Equal for routes that match the same requests. */
  readonly key: string;
}

/** Selectors of routes: a checked route never changes, but is compared with other routes of its edge many times. */
const selectorOf = weakMemoize((route: SoundRoute): Selecting => {
  const selector = readSelector(route.match!);
  const key = 'message' in selector ? '' : `${route.match_type} ${selector.host ?? ''}${selector.path}`;
  return { selector, key };
});

/**
 * Checks the selectors of all routes: their form, whether any request can reach them, that there are no duplicates, and that
 * no gate is bypassed with a slash.
 */
export function checkMatches(config: SoundConfig, report: Report): void {
  for (const { pointer, thing: edge } of edgesOf(config)) {
    /** Indexes of selectors in the list of routes. */
    const seen = new Map<string, number>();
    const selected: SelectedRoute[] = [];
    const placeOf = (index: number): string => `${pointer}/routes/${index}/match`;
    for (const [index, route] of (edge.routes ?? []).entries()) {
      if (route?.match === undefined) continue;
      const { key, selector } = selectorOf(route);
      if ('message' in selector) {
        const { message, meant, hint } = selector;
        report('edge.bad_match', placeOf(index), message, hint === undefined ? meantWord(meant) : { hint });
        continue;
      }
      warnAboutMatch(route.match, selector, edge.hostports ?? [], () => placeOf(index), report);
      if (route.match_type === undefined) continue;
      selected.push({ route, pointer: `${pointer}/routes/${index}`, ...selector });
      const first = seen.get(key);
      if (first === undefined) seen.set(key, index);
      else {
        const message = `another route of this edge has the same match_type and match ${quoted(route.match)}`;
        report('edge.duplicate_route', placeOf(index), message, { first: placeOf(first) });
      }
    }
    checkSlashes(selected, config, report);
  }
}

function warnAboutMatch(
  match: string,
  { host, path }: Selector,
  hostports: readonly (string | undefined)[],
  pointerOf: () => string,
  report: Report,
): void {
  if (path.includes('*')) {
    report('edge.literal_wildcard', pointerOf(), `the '*' in ${quoted(match)} is a literal character`, {
      notes: ['match_type path_prefix matches everything below its path'],
    });
  }
  const parameter = /(?<=[/])(?::\w+|\{\w+\}|<\w+>)(?=[/]|$)/.exec(match);
  if (parameter !== null) {
    const upTo = match.slice(0, parameter.index);
    report(
      'edge.literal_wildcard',
      pointerOf(),
      `${quoted(parameter[0])} in ${quoted(match)} is literal: a match has no parameters`,
      { hint: `match_type path_prefix with ${quoted(upTo)} matches every value` },
    );
  }
  if (host === null || hostports.length === 0 || covers(hostports, host)) return;
  report(
    'edge.unreachable_host',
    pointerOf(),
    `the edge of this route does not have the host ${quoted(host)}`,
    {
      ...meantWord(host.includes('.') ? undefined : `/${match}`),
      notes: [`hostports of the edge: ${hostports.join(', ')}`],
    },
  );
}
