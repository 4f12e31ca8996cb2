import type { EdgeConfig } from '../edge/document/schema.ts';
import type { ActionFacts } from '../filters/facts.ts';
import { domainOf, machineOfPattern, quoted } from './fields.ts';
import type { Way } from './outcome.ts';
import type { Dfa } from './texts/automaton.ts';
import { dfaOf, keptDfa } from './texts/dfa.ts';
import { type LiteralEdit, replaced } from './texts/functions.ts';
import { someElement } from './texts/comparing.ts';
import { type AnyMachine, inAll } from './texts/machine.ts';
import { type Reading, pointsOf } from './texts/readings.ts';
import { shortestText } from './texts/intersect.ts';

/** The changed part of an exchange whose path is known as a function of the path before. */
export const IMAGE = 'image';

/** A text that begins with a slash, perhaps with a group of all that follows. */
const FROM = /^((?:\/(?!\/)|[\w~-]|\\[.~-])+)(\(\.\*\)\$?)?$/;
const TO = /^[\w/.~-]*$/;

/**
 * The path that an action makes of each path of a request, if that is known for all of them: a literal text is replaced
 * wherever it is, or once if its pattern takes the rest of the URL. Null for all others.
 */
export function pathImage(
  { replacesInUrl, leavesRequest, changes }: ActionFacts<never>,
  config: object,
  { changed }: Pick<Way, 'changed'>,
  edges: EdgeConfig['edges'],
  earlier: readonly Reading[] | undefined,
): readonly Reading[] | null {
  const edit = leavesRequest || changes === undefined ? undefined : replacesInUrl?.(config as never);
  if (edit === undefined || edit.from === null) return null;
  const isKnown = Object.keys(changed).every(
    (part) =>
      part === 'left_behind' || part === IMAGE || (part.startsWith('header ') && part !== 'header host'),
  );
  const [, escaped, rest] = FROM.exec(edit.from) ?? [];
  if (!isKnown || escaped === undefined || !escaped.startsWith('/')) return null;
  const from = escaped.replaceAll('\\', '');
  if (meetsHost(from, edges)) return null;
  if (rest !== undefined && !edit.to.endsWith('$1')) return null;
  const to = rest === undefined ? edit.to : edit.to.slice(0, -2);
  if (!TO.test(to)) return null;
  const reading = replaced(from, pointsOf(to), rest === undefined ? -1 : 1);
  const image = [...(earlier ?? []), reading];
  return isCanonical(image) ? image : null;
}

/** What an action replaces whose image of the path is known (`pathImage`). */
export function literalEdit({ replacesInUrl }: ActionFacts<never>, config: object): LiteralEdit {
  const { from, to } = replacesInUrl!(config as never);
  const [, escaped, rest] = FROM.exec(from!)!;
  return { from: escaped!.replaceAll('\\', ''), to: rest === undefined ? to : to.slice(0, -2) };
}

/**
 * The values of a parameter of the query that rewrites may change: those that contain a replaced text. All others stay
 * as they are, because a replaced text is within one name or value. Null if a name may become that of the parameter.
 */
export function touchedValues(field: string, edits: readonly LiteralEdit[]): Dfa | null {
  const name = /^query ([^/]*)$/.exec(field)?.[1];
  if (name === undefined || !edits.every(({ to }) => to.includes('/'))) return null;
  const pattern = edits.map(({ from }) => quoted(from)).join('|');
  return keptDfa(`some value contains ${pattern}`, () => {
    const machine = machineOfPattern(pattern);
    return machine === null ? null : dfaOf(someElement(machine as unknown as AnyMachine));
  });
}

/** Whether the text may be found where the host is: it is searched in the whole URL. */
function meetsHost(from: string, { https }: EdgeConfig['edges']): boolean {
  const [, start = '', ...more] = from.split('/');
  return Object.values(https)
    .flatMap(({ hostports }) => hostports)
    .some((hostport) => {
      const host = hostport.replace(/:\d+$/, '').toLowerCase();
      const text = start.toLowerCase();
      if (host.startsWith('*')) return more.length === 0 || text.endsWith(host.slice(1));
      return more.length === 0 ? host.startsWith(text) : host === text;
    });
}

/** Whether all paths that it makes are as the engine would leave them. */
function isCanonical(image: readonly Reading[]): boolean {
  const domain = domainOf('path');
  const dfa = beforeImage(image, domain.dfa, domain.accepted);
  return dfa !== null && shortestText([domain, { dfa, accepted: false }]) === 'none';
}

/** The paths whose image is in a set; null if they are too many. */
export function beforeImage(image: readonly Reading[], set: Dfa, accepted = true): Dfa | null {
  const names = image.map(({ name }) => name).join();
  return keptDfa(`${names} before ${String(accepted)} ${set.key}`, () => {
    const whole = inAll([{ dfa: set, accepted }]) as unknown as Parameters<Reading['before']>[0];
    return dfaOf(image.reduceRight((inner, reading) => reading.before(inner, false), whole));
  });
}
