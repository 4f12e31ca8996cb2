import type { ActionFacts } from '../filters/facts.ts';
import type { Diagram, Truth } from './diagram.ts';
import { patternDfa, quoted } from './fields.ts';
import type { Model } from './model.ts';
import type { Way } from './outcome.ts';
import { beforeImage } from './rewrites.ts';
import { after, changesOfField } from './setting.ts';

/** Text that a pattern finds as it is written. */
const LITERAL = /^[\w/~!%&'",:;=@<>`#-]+$/;

/**
 * Requests that an action certainly redirects, because it changes their URL: to another host or path, or by replacing
 * a text that their path contains. Of all others it is not known.
 */
export function surelyRedirected(
  { analysis: { atoms, diagrams, images } }: Model,
  { ends, replacesInUrl }: ActionFacts<never>,
  config: object,
  { changed }: Pick<Way, 'changed'>,
): Diagram<Truth> {
  const edit = ends.how.every((how) => how === 'redirected') ? replacesInUrl?.(config as never) : undefined;
  if (edit === undefined || edit.to.includes('$')) return diagrams.false;
  const has = (field: 'host' | 'path', pattern: string, message: string): Diagram<Truth> => {
    const changes = changesOfField(field, changed);
    const image = field === 'path' ? images.get(changes) : undefined;
    const dfa = patternDfa(pattern)!;
    const known = image === undefined ? null : beforeImage(image, dfa);
    return diagrams.atom(
      known === null
        ? atoms.text(after(field, changes), dfa, message)
        : atoms.text(field, known, `${message}, after a rewrite`),
    );
  };
  const { from, to } = edit;
  if (from !== null)
    return LITERAL.test(from) && from !== to
      ? has('path', quoted(from), `the path contains '${from}'`)
      : diagrams.false;
  if (!/^https?:\/\/[^/]/.test(to) || !URL.canParse(to)) return diagrams.false;
  const { hostname, pathname } = new URL(to);
  const isHost = has('host', `\\A${quoted(hostname)}\\z`, `the host is '${hostname}'`);
  const isPath = has('path', `\\A${quoted(pathname)}\\z`, `the path is '${pathname}'`);
  return diagrams.not(diagrams.and(isHost, isPath));
}
