import type { Atoms } from './atoms.ts';
import type { OfClient } from './client_facts.ts';
import type { Diagrams } from './diagram.ts';
import { type Way, changesOf } from './outcome.ts';
import { IMAGE } from './rewrites.ts';
import type { LiteralEdit } from './texts/functions.ts';
import type { Reading } from './texts/readings.ts';

/**
 * How the path is read (`policy/loose_path.ts`): as it is; as it is, but with it for the target as sent; without its
 * last slash; or in some spelling of a lenient server.
 */
export type PathReading = 'as_is' | 'respelled' | 'without_slash' | 'some_spelling';

/** Where an expression is evaluated: what makes equal texts mean different things. */
export interface Setting {
  readonly atoms: Atoms;
  readonly diagrams: Diagrams;
  readonly path: PathReading;
  /** What earlier actions changed of a field. */
  readonly changesOf: (field: string) => string;
  /** How changes make the path of that of the request; undefined if that is not known. */
  readonly imageOf?: (changes: string) => readonly Reading[] | undefined;
  /** The replacements that changes of the URL consist of; undefined if they are not known. */
  readonly editsOf?: (changes: string) => readonly LiteralEdit[] | undefined;
  /** Identifies what the configuration lets expressions know besides the request: facts, logins, the endpoint. */
  readonly surroundings: (expression: string) => string;
  /** For which addresses a condition on facts about them is true and false; absent without facts. */
  readonly ofClient?: ((source: string) => OfClient | null) | undefined;
  /** Whether a variable, or the result of an action, is certainly not set. */
  readonly isUnset?: (name: string) => boolean;
  /** Whether changes of a header field remove it, or add a value; undefined if neither is certain. */
  readonly madeOf?: (changes: string) => 'absent' | 'present' | undefined;
  /** Distinguishes evaluations that use chance. */
  readonly occurrence: () => number;
}

/** Parts of an exchange that are known before it, or never change in it. */
const FIXED = /^(?:conn|endpoint)\./;
/** What other actions leave behind. */
export const LEFT_BEHIND = /^(?:vars|actions|attempts|last_attempt)\b/;

/** Before the name of what is not there: a variable that is not set, a header field that was removed. */
const UNSET = 'unset ';

/** A variable that `set-vars` sets, or the result of an action. */
const VARIABLE = /^(?:vars\.\w+|actions\.[\w-]+\.\w+)/;

/** Words before the name of a value that is not a text of the request. */
const KINDS = /^(?:number size of|number|truth|list|any|reading|chance|draw|element \S+ of) /;

/** The name of a field in a diagram: after a change it is another field. */
export function placed(field: string, setting: Setting): string {
  const made = field.startsWith('header ') ? setting.madeOf?.(setting.changesOf(field)) : undefined;
  if (made === 'absent') return `${UNSET}${field}`;
  return made === 'present' ? `added ${nameIn(setting, field)}` : nameIn(setting, field);
}

function nameIn(setting: Setting, field: string): string {
  const kind = KINDS.exec(field)?.[0];
  if (kind !== undefined) return `${kind}${nameIn(setting, field.slice(kind.length))}`;
  if (field.startsWith('time.') || field.startsWith('#')) return field;
  const [variable] = VARIABLE.exec(field) ?? [];
  if (variable !== undefined && setting.isUnset?.(variable) === true) return `${UNSET}${field}`;
  const own = ownName(field, setting);
  if (FIXED.test(field)) return `${own}${setting.surroundings(field)}`;
  const isHidden = field.startsWith('cookie ') || field === 'header cookie';
  const surroundings = isHidden
    ? setting.surroundings('cookies')
    : isOfRequest(field)
      ? ''
      : setting.surroundings(field);
  return after(`${own}${surroundings}`, setting.changesOf(field));
}

/** Whether the client sends a field; all others are decided by what the world knows, or by the upstream. */
export function isOfRequest(field: string): boolean {
  return SENT.test(field);
}

const SENT =
  /^(?:path|method|host|scheme|req\.host|req\.url\.(?:query|raw_path)|(?:header|cookie|query) \S+)$/;

/** The name of a field in a diagram after changes: it is another field then. */
export function after(name: string, changes: string): string {
  return changes === '' ? name : `${name} after ${changes}`;
}

/** Whether a field is what an action made of one of the request. */
export function isChanged(name: string): boolean {
  return name.includes(' after ');
}

/** What a way changed of a field, or of the whole exchange for the name `exchange`. */
export function changesOfField(field: string, changed: Way['changed']): string {
  return changesOf(partsWith(field, changed));
}

/** The changes of the parts of the exchange that a field is read from. */
function partsWith(field: string, changed: Way['changed']): Way['changed'] {
  if (LEFT_BEHIND.test(field)) return changed;
  const of = (...parts: string[]): Way['changed'] =>
    Object.fromEntries(
      ['*', ...parts].flatMap((part) => (changed[part] === undefined ? [] : [[part, changed[part]]])),
    );
  if (field === 'method' || field === 'scheme') return of();
  if (field === 'path' || field.startsWith('query ') || OF_THE_TARGET.has(field)) return of('url', IMAGE);
  if (field.startsWith('res.')) return of('response');
  if (field.startsWith('header ')) return of('headers', field);
  if (field.startsWith('cookie ')) return of('headers', 'header cookie');
  const { left_behind: _, [IMAGE]: image, ...all } = changed;
  // Such a rewrite leaves the host.
  return image === undefined || field === 'host' || field === 'req.host' ? all : { ...all, [IMAGE]: image };
}

/** Variables that only the path and the query determine. */
const OF_THE_TARGET: ReadonlySet<string> = new Set(['req.url.query', 'req.url.raw_path']);

function ownName(field: string, { path }: Setting): string {
  if (field === 'path') return path === 'some_spelling' ? 'path in some spelling' : field;
  // Of another reading the whole target is made of the path.
  return path !== 'as_is' && field.startsWith('req.url') ? `${field} of the path ${path}` : field;
}
