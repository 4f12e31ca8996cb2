import { lstatSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, parse, relative, resolve, sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { hasErrors } from '../../diagnostics/diagnostic.ts';
import { diagnosticsToJson } from '../../diagnostics/json.ts';
import { failureText } from '../../diagnostics/system_failure.ts';
import { FILES_BESIDE } from '../../project_files/files_beside.ts';
import { type CheckedScenario, checkScenario } from '../../simulator/document/check.ts';
import type { AppendAnswer } from '../wire.ts';
import type { InspectorContext } from './context.ts';
import { RequestError, invalid, textIn } from './handler.ts';

const FILE_BYTES = 4_194_304;
const NAMES = /\.scenario\.ya?ml$/;

/** The case of an exchange, for a scenario file that tests the edge file at this path. */
export interface OfferedCase {
  /** A scenario file with the case alone, whose last part begins with `cases:`. */
  readonly fileFor: (edge: string) => string;
  /** `GET /admin`; a number is added where the file has this name already. */
  readonly name: string;
}

/**
 * Adds a case to the end of a scenario file, or writes a new one. All that is in the file stays as it is, comments, too. Only files of
 * the project that are named as scenario files are written, and only if the file can be read again with exactly one more case.
 */
export function appendCase(
  offered: OfferedCase,
  body: unknown,
  { files }: Pick<InspectorContext, 'files'>,
): AppendAnswer {
  const [edgeFile] = files.names();
  if (edgeFile === undefined)
    throw new RequestError(409, 'unavailable', 'the configuration has no file that a scenario could test');
  const name = textIn(body, 'file');
  const path = placeIn(projectOf(edgeFile), name);
  const before = textOf(path, name);
  const edge = `./${relative(dirname(path), realpathSync(edgeFile)).split(sep).join('/')}`;
  const own = offered.fileFor(edge);
  const text = before === null ? own : withCase(checked(name, before), before, own, { edgeFile, offered });
  const after = checked(name, text);
  if (before !== null && !hasOneMore(checked(name, before), after))
    throw new RequestError(
      409,
      'conflict',
      `the case cannot be added to ${name} without changing its other parts; copy it`,
    );
  try {
    // In place: a new file would lose its owner, its mode and its links. One that came in between is not overwritten.
    writeFileSync(path, text, { flag: before === null ? 'wx' : 'w' });
  } catch (error) {
    throw new RequestError(500, 'unavailable', `${name} cannot be written: ${failureText(error)}`);
  }
  return { file: name, line: after.lineOf(`/cases/${casesOf(after).length - 1}`), created: before === null };
}

/** The folder that may be written: where the command was started, if the edge file is in it; otherwise the folder of the edge file. */
function projectOf(edgeFile: string): string {
  const folder = realpathSync(dirname(resolve(edgeFile)));
  const started = realpathSync('.');
  return started !== parse(started).root && isInside(started, folder) ? started : folder;
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (!isAbsolute(way) && way.split(sep)[0] !== '..');
}

/** The path of a scenario file in the project, links resolved; throws for all others. */
function placeIn(project: string, name: string): string {
  if (!NAMES.test(name) || name.includes('\0'))
    throw invalid(`${name} is not named as a scenario file; use a name that ends in .scenario.yaml`);
  const path = resolve(name);
  let folder: string;
  try {
    folder = realpathSync(dirname(path));
  } catch {
    throw new RequestError(404, 'not_found', `there is no folder ${dirname(name)}; create it first`);
  }
  const place = join(folder, basename(path));
  const isLink = lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  if (!isInside(project, folder) || isLink)
    throw new RequestError(
      403,
      'forbidden',
      `${name} is not a file of ${relative('.', project) || 'this folder'}; only files of the project are written`,
    );
  return place;
}

/** The text of a file; null if there is none. */
function textOf(path: string, name: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  if (!stats.isFile() || stats.size > FILE_BYTES)
    throw new RequestError(409, 'unavailable', `${name} is not a file of at most ${FILE_BYTES} bytes`);
  return readFileSync(path, 'utf8');
}

/** Throws with located findings where the text has errors. */
function checked(name: string, text: string): CheckedScenario {
  const found = checkScenario({ name, text }, FILES_BESIDE);
  if (!hasErrors(found.diagnostics)) return found;
  const findings = diagnosticsToJson(found.diagnostics);
  const { file, range, message } = findings.find(({ severity }) => severity === 'error')!;
  const at = range === null ? name : `${file ?? name}:${range.start.line}`;
  throw new RequestError(409, 'conflict', `${at}: ${message}; correct it first`, findings);
}

const casesOf = ({ document }: CheckedScenario): readonly { readonly name?: unknown }[] =>
  (document.value as { cases?: readonly { name?: unknown }[] }).cases ?? [];

interface Given {
  readonly edgeFile: string;
  readonly offered: OfferedCase;
}

function withCase(file: CheckedScenario, text: string, own: string, { edgeFile, offered }: Given): string {
  const { document, name, isOwn, spanOf, lineOf } = file;
  const { edge, policy } = document.value as { edge?: unknown; policy?: unknown };
  const tested = edge ?? policy;
  if (typeof tested === 'string' && realpathSync(resolve(dirname(name), tested)) !== realpathSync(edgeFile))
    throw new RequestError(
      409,
      'conflict',
      `${name}:${lineOf(edge === undefined ? '/policy' : '/edge')}: it tests ${tested}, not ${edgeFile}; choose another file`,
    );
  if (!isOwn('/cases'))
    throw new RequestError(
      409,
      'conflict',
      `${name}: its cases are in a file that it includes; choose that file`,
    );
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const cases = casesOf(file);
  const lines = linesOfCase(own, uniqueName(offered.name, cases));
  const span = spanOf('/cases');
  if (span === undefined)
    return `${ended(text, newline)}${['cases:', ...indented(lines, '  ')].join(newline)}${newline}`;
  if (text[span.start] === '[')
    throw new RequestError(
      409,
      'conflict',
      `${name}:${lineOf('/cases')}: \`cases\` is written in brackets; write it as a list with a dash before each case`,
    );
  const last = spanOf(`/cases/${cases.length - 1}`)!;
  const lineStart = text.lastIndexOf('\n', last.start) + 1;
  const indent = /^[ \t]*/.exec(text.slice(lineStart))![0];
  // The line on which the case ends, with a comment after it.
  const contentEnd = last.start + text.slice(last.start, last.end).trimEnd().length;
  const lineEnd = text.indexOf('\n', contentEnd);
  const at = lineEnd < 0 ? text.length : lineEnd + 1;
  return `${ended(text.slice(0, at), newline)}${indented(lines, indent).join(newline)}${newline}${text.slice(at)}`;
}

const ended = (text: string, newline: string): string =>
  text === '' || text.endsWith('\n') ? text : `${text}${newline}`;

/** The lines of the case without the indentation of its list. */
function linesOfCase(own: string, name: string): readonly string[] {
  const [first = '', ...lines] = own
    .slice(own.indexOf('\ncases:\n') + '\ncases:\n'.length)
    .trimEnd()
    .split('\n');
  const indent = first.indexOf('-');
  return [`- name: ${JSON.stringify(name)}`, ...lines.map((line) => line.slice(indent))];
}

const indented = (lines: readonly string[], indent: string): readonly string[] =>
  lines.map((line) => `${indent}${line}`);

function uniqueName(name: string, cases: ReturnType<typeof casesOf>): string {
  const taken = new Set(cases.map((each) => each.name));
  let own = name;
  for (let count = 2; taken.has(own); count++) own = `${name} (${count})`;
  return own;
}

const others = ({ document }: CheckedScenario): object => ({ ...(document.value as object), cases: null });

function hasOneMore(before: CheckedScenario, after: CheckedScenario): boolean {
  const [old, now] = [casesOf(before), casesOf(after)];
  return (
    now.length === old.length + 1 &&
    isDeepStrictEqual(now.slice(0, -1), old.slice()) &&
    isDeepStrictEqual(others(after), others(before))
  );
}
