import { whenEnds } from '../filters/facts.ts';
import { isEnforced, isGuard } from '../filters/gates.ts';
import { ACTION_FACTS } from '../filters/table.ts';
import type { Rule } from '../policy/document/document.ts';
import type { Found } from './finding.ts';
import { patternDfa, quoted } from './fields.ts';
import { type Seer, isStopped, mentions } from './seer.ts';
import { saysWho } from './trust_findings.ts';
import type { Witness } from './witness.ts';

/** Requests that go around the rules of a policy. */

/** Documentation addresses (RFC 5737): an allowed one is not stopped. */
export const CLIENTS = ['198.51.100.7', '203.0.113.9', '192.0.2.9'];

/** Paths that servers behind the edge may take for the path of a gate. */
export function otherSpellings(path: string): readonly string[] {
  const letter = /[a-z]/.exec(path);
  const at = letter?.index ?? -1;
  const encoded =
    at < 0 ? path : `${path.slice(0, at)}%${path.charCodeAt(at).toString(16)}${path.slice(at + 1)}`;
  return [
    // Without its last slash it would be another path for many rules.
    path.endsWith('/') ? path : `${path}/`,
    path.toUpperCase(),
    encoded,
    `/${path}`,
    `${path};x`,
    `${path}%2f`,
  ].filter((each) => each !== path && each !== '');
}

/** A request that a rule stops, and one like it that passes. */
export function aroundRule(seer: Seer, rule: Rule): readonly Found[] {
  const kind = guardOf(rule);
  if (kind === null) return [];
  const witness = stoppedBy(seer, rule);
  if (witness === null) return [];
  const { pointer } = rule;
  const passes = (other: Witness): boolean => {
    const seen = seer.run(other);
    return seen !== null && !isStopped(seen) && seen.backend !== null;
  };
  if (witness.method === 'GET' && mentions(rule, /\bmethod\b/)) {
    const head = { ...witness, method: 'HEAD' };
    const options = { ...witness, method: 'OPTIONS' };
    if (passes(head)) return [{ code: 'analysis.method_bypass', pointer, witness: head }];
    if (kind === 'asks' && passes(options)) return [{ code: 'analysis.passes_options', pointer }];
  }
  const spelled = otherUrls(rule, witness.url).find((url) => passes({ ...witness, url }));
  if (spelled !== undefined)
    return [{ code: 'analysis.spelling_bypass', pointer, witness: { ...witness, url: spelled } }];
  const asked = otherQueries(rule, witness.url).find((url) => passes({ ...witness, url }));
  if (asked !== undefined)
    return [{ code: 'analysis.query_bypass', pointer, witness: { ...witness, url: asked } }];
  const other = withOtherHeaders(seer, rule, witness);
  // Requests without credentials are often denied before a gate looks at those of the others.
  if (other === null || (kind === 'denies' && !other.headers.some(([name]) => saysWho(name)))) return [];
  return passes(other) ? [{ code: 'analysis.header_bypass', pointer, witness: other }] : [];
}

/** A request that a rule stops, perhaps of a client whose address it does not allow; null if none was found. */
function stoppedBy(seer: Seer, rule: Rule): Witness | null {
  const found = seer.requestFor([rule]);
  if (found === null) return null;
  const { witness } = found;
  const tried = CLIENTS.map((clientIp) => Object.assign({}, witness, { clientIp }));
  return (
    [witness, ...tried].find((each) => {
      const observed = seer.run(each);
      return observed !== null && isStopped(observed) && seer.isBy(observed, rule);
    }) ?? null
  );
}

/** Whether a rule `denies` all of its requests, or `asks` them for something; null for all others. */
function guardOf({ actions }: Rule): 'denies' | 'asks' | null {
  const all = actions.map(({ type, config }) => ({ facts: ACTION_FACTS.get(type)!, config }));
  if (all.some(({ facts, config }) => denies(facts) && whenEnds(facts, config) === 'always')) return 'denies';
  const gates = all.filter(
    ({ facts, config }) =>
      denies(facts) && facts.remembersMs === undefined && isGuard(facts, config) && isEnforced(facts, config),
  );
  if (gates.length === 0) return null;
  return gates.every(({ facts }) => facts.addressLists !== undefined) ? 'denies' : 'asks';
}

function denies({ ends }: NonNullable<ReturnType<typeof ACTION_FACTS.get>>): boolean {
  return ends.how.includes('denied');
}

/** The URL in other spellings of what a rule compares: of the path, and of the host as it was sent. */
function otherUrls(rule: Rule, url: string): readonly string[] {
  const { origin, pathname, search } = new URL(url);
  const urls: string[] = [];
  if (mentions(rule, /\breq\.host\b|["']host["']|\bauthority\b/i))
    urls.push(`${origin}:443${pathname}${search}`);
  if (pathname === '/' || !mentions(rule, /\bpath\b|\buri\b|req\.url\b/)) return urls;
  const paths = [...otherSpellings(pathname)];
  // A comparison with a folder is about the folder itself.
  if (pathname.endsWith('/') && mentions(rule, /==|\bin\b/)) paths.push(pathname.slice(0, -1));
  return [...urls, ...paths.map((path) => `${origin}${path}${search}`)];
}

/** The URL with the same parameters in other spellings, for a rule that reads the query as a text. */
function otherQueries(rule: Rule, url: string): readonly string[] {
  const { origin, pathname, search } = new URL(url);
  if (search.length < 2 || !mentions(rule, /\breq\.url\.query\b/)) return [];
  const letter = /[a-z]/i.exec(search)?.index ?? -1;
  const encoded = `${search.slice(0, letter)}%${search.charCodeAt(letter).toString(16)}${search.slice(letter + 1)}`;
  const others = [`${search}&x=1`, `?x=1&${search.slice(1)}`, ...(letter < 0 ? [] : [encoded])];
  return others.map((each) => `${origin}${pathname}${each}`);
}

/** A request of the same client for the same URL that a rule leaves out because of its header fields; null without one. */
function withOtherHeaders(seer: Seer, rule: Rule, { method, url, clientIp }: Witness): Witness | null {
  if (!mentions(rule, /header|user_agent|content_type/i) || mentions(rule, /\brand\.|\btime\./)) return null;
  const { diagrams, atoms } = seer.policy.place.model.analysis;
  const same = [
    ['path', new URL(url).pathname],
    ['method', method],
  ] as const;
  const start = same.reduce(
    (sum, [field, text]) => {
      const dfa = patternDfa(`\\A${quoted(text)}\\z`)!;
      return diagrams.and(sum, diagrams.atom(atoms.text(field, dfa, `the same ${field}`)));
    },
    diagrams.choose(seer.condition(rule), diagrams.false, diagrams.true, diagrams.false),
  );
  const found = seer.requestFor([], start);
  return found === null ? null : { ...found.witness, url, clientIp };
}
