import {
  ErrorCodes,
  type Range,
  ResponseError,
  type TextEdit,
  type WorkspaceEdit,
} from 'vscode-languageserver/node';
import { quotedScalar } from '../../config_file/quoted_scalar.ts';
import type { NameKind, Occurrence } from '../../editing/names.ts';
import { schemasAt } from '../../editing/schema_places.ts';
import type { TextFacts } from '../open_file.ts';
import type { Located, Project } from '../project.ts';
import { occurrenceAt } from './navigation.ts';

/** The name at an offset, if it is declared in the project. */
export function renamedAt(
  project: Project,
  facts: TextFacts,
  offset: number,
): { readonly range: Range; readonly placeholder: string } | null {
  const occurrence = occurrenceAt(facts, offset);
  if (occurrence === null || !project.placesOf(facts, occurrence).some(isDeclaration)) return null;
  return { range: facts.rangeOf(occurrence.span), placeholder: ownName(occurrence) };
}

/** The edits that give the name at an offset another text, in all files that belong together. */
export function renameAt(
  project: Project,
  facts: TextFacts,
  { offset, newName }: { readonly offset: number; readonly newName: string },
): WorkspaceEdit | null {
  const occurrence = occurrenceAt(facts, offset);
  if (occurrence === null) return null;
  const places = project.placesOf(facts, occurrence);
  if (!places.some(isDeclaration)) return null;
  const problem = problemOf(occurrence, newName, project.namesOf(facts)(occurrence.kind));
  if (problem !== null) throw new ResponseError(ErrorCodes.InvalidParams, problem);
  const changes: Record<string, TextEdit[]> = {};
  for (const { facts: own, occurrence: each } of places)
    (changes[own.document.uri] ??= []).push({
      range: own.rangeOf(each.span),
      newText: written(own, each, newName),
    });
  return { changes };
}

function isDeclaration({ occurrence }: Located): boolean {
  return occurrence.isDeclaration;
}

/** A secret is named by its vault and itself. */
function ownName({ kind, name }: Occurrence): string {
  return kind === 'secret' ? name.slice(name.indexOf('/') + 1) : name;
}

/** Maps of the edge file whose keys are the names. */
const MAPS: Partial<Readonly<Record<NameKind, string>>> = {
  backend: 'backends',
  certificate_authority: 'certificate_authorities',
  ip_policy: 'ip_policies',
};

function problemOf(occurrence: Occurrence, newName: string, known: readonly string[]): string | null {
  const { kind, name } = occurrence;
  const full = kind === 'secret' ? `${name.slice(0, name.indexOf('/'))}/${newName}` : newName;
  if (newName.trim() === '' || /\p{Cc}/u.test(newName)) return 'a name has one line, and is not empty';
  if (full !== name && known.includes(full))
    return `there is already a ${kind.replaceAll('_', ' ')} '${newName}'`;
  if ((kind === 'vault' || kind === 'secret') && !/^[\w.-]+$/.test(newName))
    return "a name of letters, digits, '-', '_' and '.'";
  const map = MAPS[kind];
  const names = map === undefined ? undefined : schemasAt('edge', [map], () => null)[0]?.propertyNames;
  if (names?.pattern === undefined || new RegExp(names.pattern).test(newName)) return null;
  return names.form ?? names.pattern;
}

/** The new name as its place needs it: within quotes that are there, or with quotes where it needs some. */
function written(facts: TextFacts, { span }: Occurrence, newName: string): string {
  const { text } = facts.edited;
  const quote = text[span.start - 1];
  if (quote === "'") return newName.replaceAll("'", "''");
  if (quote === '"') return newName.replaceAll(/["\\]/g, String.raw`\$&`);
  return /^[A-Za-z][\w./ -]*$/.test(newName) && !/ $|^(?:null|true|false|yes|no|on|off|y|n)$/i.test(newName)
    ? newName
    : quotedScalar(newName);
}
