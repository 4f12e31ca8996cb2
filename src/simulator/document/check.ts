import { meantWord } from '../../diagnostics/meant.ts';
import type { Diagnostic, Source, Span } from '../../diagnostics/diagnostic.ts';
import { hasErrors, pointerTo } from '../../diagnostics/diagnostic.ts';
import { type Lines, linesOf, positionAt } from '../../diagnostics/lines.ts';
import type { ShapeCode } from '../../config_file/codes.ts';
import { plainDocument, type LocatedDocument } from '../../config_file/document.ts';
import { readDocument } from '../../config_file/read.ts';
import type { Report } from '../../diagnostics/report.ts';
import { shorthandIn, writesMap } from '../../config_file/map_repairs.ts';
import { errorsTo, reportWith } from '../../config_file/report.ts';
import { shaped } from '../../config_file/validate.ts';
import { reportDepartures } from '../../config_file/shape_messages.ts';
import { suggest } from '../../diagnostics/suggest.ts';
import { quoted } from '../../diagnostics/message_text.ts';
import { type FilesBeside, NO_FILES } from './beside.ts';
import { SCENARIO_CODES, type ScenarioCode } from './codes.ts';
import { nameOfRow } from './expand.ts';
import { type Origins, originOf, withIncludes } from './include.ts';
import { expanded, tableReader } from './tables.ts';
import { checkIdentitiesUsed, checkIdentityFacts } from './identities.ts';
import { checkPlaceholders } from './placeholders.ts';
import { CASE_SHAPE, EXPECTATION_SHAPE, SHELL_SHAPE } from './scenario_shape.ts';
import { type CaseRow, type Scenario, accepted } from './scenario.ts';
import type { CaseConfig, ScenarioShell } from './schema.ts';

/** The result of checking a scenario file. */
export interface CheckedScenario {
  /** Null exactly if one of the diagnostics is an error. */
  readonly scenario: Scenario | null;
  readonly diagnostics: readonly Diagnostic[];
  readonly document: LocatedDocument;
  readonly name: string;
  /** Included files and tables. */
  readonly files: readonly string[];
  /** Whether the value at a pointer is written in this file, not in one that it includes. */
  readonly isOwn: (pointer: string) => boolean;
  /** Further findings about the document and what it includes. */
  readonly report: (list: Diagnostic[]) => Report<ScenarioCode>;
  /** Line of the value at a pointer, from 1; 0 without a source. */
  readonly lineOf: (pointer: string) => number;
  readonly spanOf: (pointer: string) => Span | undefined;
}

const SCENARIO_FILE = {
  called: 'a scenario file',
  keys: '`edge` and `cases`',
  smallest: 'a minimal scenario file has an `edge` and one of `cases`',
  prefix: 'scenario',
};

/** Where keys belong that are written elsewhere. */
const ELSEWHERE = Object.fromEntries(
  ['host', 'ip', 'headers', 'scheme'].map((key) => [
    `/defaults/${key}`,
    `what all requests have is below \`request\`: defaults: { request: { ${key}: … } }`,
  ]),
);

/** What to write instead of a map. */
const MAPS = { body: '`json` takes a map, and sets the content type' };

/** Checks a scenario file, or an object of the same form. Never throws. */
export function checkScenario(
  given: Source | { readonly value: unknown; readonly name: string },
  files: FilesBeside = NO_FILES,
): CheckedScenario {
  if ('value' in given) return checkDocument(plainDocument(given.value), given.name, [], files);
  const { document, diagnostics } = readDocument(given, SCENARIO_FILE);
  if (document !== null) return checkDocument(document, given.name, diagnostics, files);
  return checkedOf(null, diagnostics, plainDocument(undefined), given.name);
}

function checkDocument(
  document: LocatedDocument,
  name: string,
  read: readonly Diagnostic[],
  files: FilesBeside,
): CheckedScenario {
  const found: Diagnostic[] = [];
  const origins: Origins = new Map();
  const named = new Set<string>();
  const reportIn = (of: LocatedDocument) =>
    reportWith<ScenarioCode>(found, of, (code) => SCENARIO_CODES[code].severity);
  const known = new Set<string>();
  const departIn = (of: LocatedDocument, note?: string) =>
    reportDepartures(shapeReport(found, known, of, note), ELSEWHERE, MAPS);
  const depart = departIn(document);
  const own = shaped(SHELL_SHAPE, document.value, '', depart) as ScenarioShell | undefined;
  const including = { files, found, reportIn, departIn, origins, read: named };
  const shell = own && withIncludes(own, document, name, including);
  const report: Report<ScenarioCode> = (code, pointer, ...rest) =>
    reportIn(originOf(origins, pointer, document))(code, pointer, ...rest);
  const tables = tableReader(name, { files, found, depart, report, read: named });
  const rows: CaseRow[] = [];
  for (const [index, given] of (shell?.cases ?? []).entries()) {
    const pointer = pointerTo('/cases', index);
    const all = expanded(given, pointer, shell?.variables, tables);
    checkPlaceholders(
      given,
      pointer,
      all.map(({ row }) => row),
      shell?.variables ?? {},
      report,
    );
    for (const [at, { row, value, place }] of all.entries()) {
      const departRow = place === undefined ? depart : departIn(document, atRow(place));
      const config = shaped(CASE_SHAPE, value, pointer, departRow) as CaseConfig | undefined;
      if (typeof config?.name !== 'string') continue;
      const caseName = row === null ? config.name : nameOfRow(nameBefore(given), row);
      const tags = [...(shell?.defaults?.tags ?? []), ...(config.tags ?? [])];
      const tableRow = row === null ? {} : { tableRow: { index: at, of: all.length } };
      rows.push({ name: caseName, tags, pointer, row, config, ...tableRow, ...(place && { place }) });
    }
  }
  if (shell !== undefined) {
    // Keys that other findings are about may be those that seem to be missing.
    if (!hasErrors(found)) checkShell(shell, report);
    const isOwn = (pointer: string) => originOf(origins, pointer, document) === document;
    if (!hasErrors(found)) checkCases(shell, rows, report, isOwn);
  }
  const inside = found.filter(({ source }) => source === document.source);
  const elsewhere = found.filter(({ source }) => source !== document.source);
  const sorted = [...read, ...inside].sort((one, other) => (one.span?.start ?? 0) - (other.span?.start ?? 0));
  const all = [...elsewhere, ...sorted];
  const scenario = shell === undefined || hasErrors(all) ? null : accepted(shell, rows, document);
  return checkedOf(scenario, all, document, name, origins, [...named]);
}

/** Reports departures from the shape that are not `known` yet; rows of one table have their findings at the same place. */
function shapeReport(
  found: Diagnostic[],
  known: Set<string>,
  document: LocatedDocument,
  note?: string,
): Report<ShapeCode> {
  return (code, pointer, message, more = {}) => {
    const list: Diagnostic[] = [];
    const noted = note === undefined ? more : { ...more, notes: [...(more.notes ?? []), note] };
    errorsTo<ShapeCode>(list, document, SCENARIO_FILE.prefix)(code, pointer, message, noted);
    for (const each of list) {
      const key = JSON.stringify([each.source?.name, each.pointer, each.message]);
      if (!known.has(key)) found.push(each);
      known.add(key);
    }
  };
}

/** The note on findings about a row of a table in another file. */
export function atRow(place: string): string {
  return `the row is at ${place}`;
}

function nameBefore(given: unknown): string {
  return String((given as { readonly name?: unknown }).name);
}

function checkShell(shell: ScenarioShell, report: Report<ScenarioCode>): void {
  const { edge, policy, cases, simulation } = shell;
  if (cases === undefined && simulation === undefined) {
    report('scenario.no_request', '', 'the file has neither `cases` nor a `simulation`');
  }
  if (edge === undefined && policy === undefined) {
    report('scenario.no_edge', '', 'the file has neither an `edge` nor a `policy` to test', {
      notes: ['edge: ./edge.yaml'],
    });
  }
  if (edge !== undefined && policy !== undefined) {
    report('scenario.no_edge', '/policy', 'a file tests an `edge` or a `policy`, not both', { at: 'key' });
  }
}

const KINDS = ['request', 'connect', 'curl', 'raw', 'timeline', 'sample'] as const;

function checkCases(
  shell: ScenarioShell,
  rows: readonly CaseRow[],
  report: Report<ScenarioCode>,
  isOwn: (pointer: string) => boolean,
): void {
  const seen = new Map<string, string>();
  const asked = new Set<string>();
  checkIdentityFacts(shell, report);
  for (const { name, pointer, config } of rows) {
    const before = seen.get(name);
    if (before !== undefined) {
      const message = `duplicate case name ${quoted(name)}`;
      report('scenario.duplicate_name', `${pointer}/name`, message, { first: before });
    }
    seen.set(name, pointer);
    const kinds = KINDS.filter((kind) => config[kind] !== undefined);
    if (kinds.length === 0) {
      const message = `case ${quoted(name)} sends nothing`;
      report('scenario.no_request', pointer, message, { notes: [`one of: ${KINDS.join(', ')}`] });
    } else if (kinds.length > 1) {
      report('scenario.several_requests', pointer, `case ${quoted(name)} has ${kinds.join(' and ')}`);
    }
    const misspelt = misspeltSnapshot(config, pointer);
    if (misspelt !== null) {
      const message = `${quoted(misspelt.text)} is neither a map nor \`snapshot\``;
      const meant = shorthandIn(EXPECTATION_SHAPE, misspelt.text);
      const cure = meant === undefined ? meantWord(suggest(misspelt.text, ['snapshot'])) : writesMap(meant);
      report('scenario.bad_expectation', misspelt.pointer, message, cure);
    } else if (!expectsSomething(config)) {
      const message = `case ${quoted(name)} expects nothing, so it cannot fail`;
      report('scenario.no_expectation', pointer, message, { notes: ['expect: { status: 200 }'] });
    }
    if (config.expect !== undefined && (config.timeline !== undefined || config.sample !== undefined)) {
      const message = 'expectations of a timeline belong to its steps, those of a sample to its `share`';
      report('scenario.bad_expectation', `${pointer}/expect`, message, { at: 'key' });
    }
    checkIdentitiesUsed(shell, config, pointer, asked, report);
  }
  for (const [index, { request }] of (shell.simulation?.arrivals ?? []).entries())
    checkIdentitiesUsed(shell, { request }, `/simulation/arrivals/${index}`, asked, report);
  for (const name of Object.keys(shell.identities ?? {})) {
    const pointer = pointerTo('/identities', name);
    if (asked.has(name) || !isOwn(pointer)) continue;
    report('scenario.unused_identity', pointer, `no case sends requests as ${quoted(name)}`, { at: 'key' });
  }
}

/** A string in place of an expectation that is not `snapshot`. */
function misspeltSnapshot({ expect, timeline }: CaseConfig, pointer: string) {
  const given = [
    { text: expect, pointer: `${pointer}/expect` },
    ...(timeline ?? []).map((step, index) => ({
      text: step.expect,
      pointer: `${pointer}/timeline/${index}/expect`,
    })),
  ];
  const found = given.find(({ text }) => typeof text === 'string' && text !== 'snapshot');
  return found === undefined ? null : { text: found.text as string, pointer: found.pointer };
}

function expectsSomething({ expect, timeline, sample }: CaseConfig): boolean {
  if (sample !== undefined) return Object.keys(sample.share).length > 0;
  const given = timeline === undefined ? [expect] : timeline.map((step) => step.expect);
  return given.some(
    (each) => each === 'snapshot' || (typeof each === 'object' && Object.keys(each).length > 0),
  );
}

function checkedOf(
  scenario: Scenario | null,
  diagnostics: readonly Diagnostic[],
  document: LocatedDocument,
  name: string,
  origins: Origins = new Map(),
  files: readonly string[] = [],
): CheckedScenario {
  let lines: Lines | undefined;
  const { source } = document;
  return {
    scenario,
    diagnostics,
    document,
    name,
    spanOf: document.spanOf,
    files,
    isOwn: (pointer) => originOf(origins, pointer, document) === document,
    report:
      (list) =>
      (code, pointer, ...rest) => {
        const of = originOf(origins, pointer, document);
        reportWith<ScenarioCode>(list, of, (each) => SCENARIO_CODES[each].severity)(code, pointer, ...rest);
      },
    lineOf: (pointer) => {
      const span = document.keySpanOf(pointer) ?? document.spanOf(pointer);
      if (source === undefined || span === undefined) return 0;
      return positionAt((lines ??= linesOf(source.text)), span.start).line;
    },
  };
}
