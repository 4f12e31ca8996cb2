import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { parseAuthority } from '../../http/host.ts';
import { parseTarget } from '../../http/target.ts';
import type { SoundConfig } from './edge_shape.ts';
import { covers, hostProblem } from './hosts.ts';
import { didYouMean, quoted } from './report.ts';
import type { Report } from './report.ts';
import { edgesOf, routesOf } from './routes_of.ts';

/** A route selector read: `host` is null where any host of the edge will do; the path is canonical. */
export interface Selector {
  readonly host: string | null;
  readonly path: string;
}

interface SelectorProblem {
  readonly says: string;
  readonly meant?: string;
}

/** Reads a path, a host, or a host followed by a path. */
export function readSelector(match: string): Selector | SelectorProblem {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(match)) {
    const meant = match.replace(/^[^/]*\/\//, '').replace(/[?#].*$/, '');
    return { says: `${quoted(match)} is a URL; a match has no scheme`, meant };
  }
  const beyond = /[?#]/.exec(match);
  if (beyond !== null) {
    const part = beyond[0] === '?' ? 'query' : 'fragment';
    return {
      says: `a match has no ${part}: routes are chosen by host and path`,
      meant: match.slice(0, beyond.index),
    };
  }
  const slash = match.indexOf('/');
  const name = slash < 0 ? match : match.slice(0, slash);
  const path = slash < 0 ? '/' : match.slice(slash);
  const problem = slash === 0 ? null : selectorHostProblem(name, path);
  if (problem !== null) return problem;
  const target = parseTarget(path);
  if ('problem' in target) return { says: `${quoted(path)} is not a path: ${target.problem}` };
  return { host: slash === 0 ? null : name.toLowerCase(), path: target.path };
}

function selectorHostProblem(name: string, path: string): SelectorProblem | null {
  if (name.startsWith('*')) {
    return { says: 'a match takes no wildcard host; without a host it takes every host of its edge' };
  }
  const authority = parseAuthority(name);
  if (authority === null)
    return { says: `${quoted(name)} is neither a path, which begins with '/', nor a host name` };
  const rest = path === '/' ? '' : path;
  if (authority.port !== undefined) {
    return { says: `a match names a host without port`, meant: authority.host + rest };
  }
  const says = hostProblem(authority.host);
  if (says !== null) return { says };
  const isCanonical = name.toLowerCase() === authority.host;
  return isCanonical ? null : { says: `${quoted(name)} ends in a dot`, meant: authority.host + rest };
}

/** Checks the selectors of all routes: their form, whether any request can reach them, and that none stands twice. */
export function checkMatches(config: SoundConfig, report: Report): void {
  for (const edge of edgesOf(config)) {
    const seen = new Map<string, string>();
    for (const { pointer, thing: route } of routesOf(config, [edge])) {
      if (route.match === undefined) continue;
      const at = pointerTo(pointer, 'match');
      const selector = readSelector(route.match);
      if ('says' in selector) {
        const { says, meant } = selector;
        report('edge.bad_match', at, says, {
          hint: didYouMean(meant),
          fix: meant === undefined ? undefined : { says: `write ${meant}`, text: meant, safe: false },
        });
        continue;
      }
      warnOfMatch(route.match, selector, edge.thing.hostports ?? [], at, report);
      if (route.match_type === undefined) continue;
      const key = `${route.match_type} ${selector.host ?? ''}${selector.path}`;
      const first = seen.get(key);
      if (first === undefined) seen.set(key, at);
      else {
        const says = `another route of this edge has the same match_type and match ${quoted(route.match)}`;
        report('edge.duplicate_route', at, says, { first });
      }
    }
  }
}

function warnOfMatch(
  match: string,
  { host, path }: Selector,
  hostports: readonly (string | undefined)[],
  pointer: string,
  report: Report,
): void {
  if (path.includes('*')) {
    report('edge.literal_wildcard', pointer, `the '*' in ${quoted(match)} stands for itself`, {
      notes: ['match_type path_prefix takes everything below its path'],
    });
  }
  if (host === null || hostports.length === 0 || covers(hostports, host)) return;
  report(
    'edge.unreachable_host',
    pointer,
    `the edge of this route does not answer for the host ${quoted(host)}`,
    {
      hint: host.includes('.') ? undefined : didYouMean(`/${match}`),
      notes: [`hostports of the edge: ${hostports.join(', ')}`],
    },
  );
}
