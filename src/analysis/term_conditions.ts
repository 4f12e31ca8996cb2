import type { Node } from '../cel/ast.ts';
import type { Diagram, Truth } from './diagram.ts';
import type { Reader } from './reader.ts';
import { type Setting, placed } from './setting.ts';
import { touchedValues } from './rewrites.ts';
import type { Term, TextSet } from './term.ts';
import type { Dfa } from './texts/automaton.ts';
import { dfaOf, keptDfa } from './texts/dfa.ts';
import { type AnyMachine, literals, withAbsent, withSlash } from './texts/machine.ts';
import type { Reading } from './texts/readings.ts';

/** No text at all, or all texts. */
const NOTHING = literals([], 'equal') as AnyMachine;
export const ABSENCE: Dfa = dfaOf(withAbsent(NOTHING, true))!;

/** The condition that what a term reads is in a set, an error where it cannot be read; null if the set is too large. */
export function ofTerm(reader: Reader, term: Term, node: Node, set: TextSet): Diagram<Truth> | null {
  const { diagrams } = reader.setting;
  const holds = inSet(reader, term, set, reader.text(node));
  const unreadable = holds === null ? null : isAbsent(reader, term);
  if (holds === null || unreadable === null) return null;
  return unreadable === diagrams.false
    ? holds
    : diagrams.choose(unreadable, diagrams.error, holds, diagrams.error);
}

/** Whether a term can be read and is in a set. */
function inSet(
  { setting }: Reader,
  { field, readings: own }: Pick<Term, 'field' | 'readings'>,
  set: TextSet,
  message: string,
): Diagram<Truth> | null {
  const { atoms, diagrams } = setting;
  const readings = withPath(field, own, setting);
  const dfa = keptDfa(`${namesOf(readings)} ${set.name}`, () => {
    const machine = set.machine();
    return machine === null ? null : dfaOf(before(readings, machine, false));
  });
  if (dfa === null) return null;
  if (imageOf(field, setting) !== undefined)
    return diagrams.atom(atoms.text(field, dfa, `${message}, after a rewrite`));
  return unlessTouched(setting, field, (name) => diagrams.atom(atoms.text(name, dfa, message)));
}

/** A condition on a field: of a parameter of the query that no rewrite touches, its value in the request decides. */
function unlessTouched(
  setting: Setting,
  field: string,
  condition: (name: string) => Diagram<Truth>,
): Diagram<Truth> {
  const { atoms, diagrams } = setting;
  const touched = touchedBy(setting, field);
  const placedName = placed(field, setting);
  if (touched === null) return condition(placedName);
  const isTouched = diagrams.atom(atoms.text(field, touched, `a rewrite changes the ${field}`));
  return diagrams.choose(isTouched, condition(placedName), condition(field), diagrams.error);
}

/** Whether a term cannot be read: its field is absent, or a function of it fails; null if such texts are too many. */
export function isAbsent(reader: Reader, { field: own, ...term }: Term): Diagram<Truth> | null {
  const { setting } = reader;
  const { atoms, diagrams } = setting;
  const field = imageOf(own, setting) === undefined ? placed(own, setting) : own;
  const message = `${own} is absent`;
  let absent = diagrams.false;
  if (term.mayFailAsList === true) absent = diagrams.atom(atoms.text(`reading ${field}`, ABSENCE, message));
  for (const { readings, set } of term.guards ?? []) {
    const fits = inSet(reader, { field: own, readings }, set, `${own} has the right form`);
    if (fits === null) return null;
    absent = diagrams.or(absent, diagrams.not(fits));
  }
  const readings = withPath(own, term.readings, setting);
  if (!readings.some(({ mayFail }) => mayFail)) return absent;
  const dfa = keptDfa(`${namesOf(readings)} fails`, () => dfaOf(before(readings, NOTHING, true)));
  if (dfa === null) return null;
  const isPlain = dfa.key === ABSENCE.key;
  const words = isPlain ? message : `${own} has no ${lastOf(readings)}`;
  const fails = (name: string): Diagram<Truth> => diagrams.atom(atoms.text(name, dfa, words));
  if (isPlain && own.startsWith('query ')) return diagrams.or(absent, fails(presenceOf(setting, own)));
  return diagrams.or(absent, field === own ? fails(own) : unlessTouched(setting, own, fails));
}

/** The values of a parameter of the query that earlier rewrites change; null if that is not known, or none do. */
function touchedBy(setting: Setting, field: string): Dfa | null {
  const edits = field.startsWith('query ') ? setting.editsOf?.(setting.changesOf(field)) : undefined;
  return edits === undefined ? null : touchedValues(field, edits);
}

/** The name of the field whose presence decides: rewrites change values of parameters, and neither number nor names. */
export function presenceOf(setting: Setting, field: string): string {
  return touchedBy(setting, field) === null ? placed(field, setting) : field;
}

function namesOf(readings: readonly Reading[]): string {
  return readings.map(({ name }) => name).join();
}

function lastOf(readings: readonly Reading[]): string {
  return readings.findLast(({ mayFail }) => mayFail)!.name;
}

function withPath(field: string, own: readonly Reading[], setting: Setting): readonly Reading[] {
  const isShort = field === 'path' && setting.path === 'without_slash';
  const readings = isShort ? [WITHOUT_SLASH, ...own] : own;
  return [...(imageOf(field, setting) ?? []), ...readings];
}

/** How earlier rewrites made the path; undefined if they did not, or that is not known. */
function imageOf(field: string, setting: Setting): readonly Reading[] | undefined {
  if (field !== 'path' || setting.path === 'some_spelling') return undefined;
  return setting.imageOf?.(setting.changesOf(field));
}

const WITHOUT_SLASH: Reading = {
  name: 'without slash',
  mayFail: false,
  before: (image) => withSlash(image) as unknown as AnyMachine,
};

/** The texts of a field that the readings, one after the other, make an accepted text of. */
function before(readings: readonly Reading[], image: AnyMachine, ifFails: boolean): AnyMachine {
  return readings.reduceRight((inner, reading) => reading.before(inner, ifFails), image);
}
