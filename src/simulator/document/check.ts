import type { Diagnostic, Source, Span } from '../../diagnostics/diagnostic.ts';
import { hasErrors, pointerTo } from '../../diagnostics/diagnostic.ts';
import { linesOf, positionAt } from '../../diagnostics/lines.ts';
import type { Lines } from '../../diagnostics/lines.ts';
import type { ShapeCode } from '../../config_file/codes.ts';
import { plainDocument, type LocatedDocument } from '../../config_file/document.ts';
import { readDocument } from '../../config_file/read.ts';
import type { Report } from '../../diagnostics/report.ts';
import { errorsTo, reportWith } from '../../config_file/report.ts';
import { shaped } from '../../config_file/validate.ts';
import { reportDepartures } from '../../config_file/shape_messages.ts';
import { suggest } from '../../diagnostics/suggest.ts';
import { didYouMean, quoted } from '../../diagnostics/message_text.ts';
import { SCENARIO_CODES, type ScenarioCode } from './codes.ts';
import { type Row, filled, nameOfRow, rowsOf } from './expand.ts';
import { checkIdentitiesUsed, checkIdentityFacts } from './identities.ts';
import { CASE_SHAPE, EACH_SHAPE, SHELL_SHAPE } from './scenario_shape.ts';
import type { CaseConfig, ScenarioShell } from './schema.ts';

/** A reported case: a case of the file, or one row of its table. */
export interface CaseRow {
  /** Unique in its file. */
  readonly name: string;
  readonly tags: readonly string[];
  /** JSON pointer of the case in the file. */
  readonly pointer: string;
  readonly row: Row | null;
  /** The index of its table row, and the number of rows. */
  readonly tableRow?: { readonly index: number; readonly of: number };
  readonly config: CaseConfig;
}

export interface Scenario {
  readonly shell: ScenarioShell;
  readonly cases: readonly CaseRow[];
}

/** The result of checking a scenario file. */
export interface CheckedScenario {
  /** Null exactly if one of the diagnostics is an error. */
  readonly scenario: Scenario | null;
  readonly diagnostics: readonly Diagnostic[];
  readonly document: LocatedDocument;
  readonly name: string;
  /** Further findings about the same document. */
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

/** Checks a scenario file, or an object of the same form. Never throws. */
export function checkScenario(
  given: Source | { readonly value: unknown; readonly name: string },
): CheckedScenario {
  if ('value' in given) return checkDocument(plainDocument(given.value), given.name, []);
  const quick = quickJson(given);
  const { document, diagnostics } = quick ?? readDocument(given, SCENARIO_FILE);
  if (document !== null) return checkDocument(document, given.name, diagnostics);
  return checkedOf(null, diagnostics, plainDocument(undefined), given.name);
}

/**
 * Parses JSON with the engine's own parser, which is many times as fast; positions are determined only for
 * findings. Duplicate keys are left to the slow reader: they show as more colons than keys.
 */
function quickJson(source: Source): { document: LocatedDocument; diagnostics: [] } | null {
  if (!/^\s*\{/.test(source.text)) return null;
  let value: unknown;
  try {
    value = JSON.parse(source.text) as unknown;
  } catch {
    return null;
  }
  if (keysWritten(source.text) !== keysWithin(value)) return null;
  let slow: LocatedDocument | null | undefined;
  const places = () => (slow ??= readDocument(source, SCENARIO_FILE).document);
  const document: LocatedDocument = {
    source,
    value,
    spanOf: (pointer) => places()?.spanOf(pointer),
    keySpanOf: (pointer) => places()?.keySpanOf(pointer),
  };
  return { document, diagnostics: [] };
}

/** Keys of all objects in a value. */
function keysWithin(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let keys = 0;
  if (Array.isArray(value)) {
    for (const part of value as readonly unknown[]) if (typeof part === 'object') keys += keysWithin(part);
    return keys;
  }
  // All keys of a JSON.parse result are own properties.
  for (const key in value) {
    const part = (value as Readonly<Record<string, unknown>>)[key];
    keys += typeof part === 'object' ? 1 + keysWithin(part) : 1;
  }
  return keys;
}

/** Number of keys in valid JSON: strings followed by a colon. */
function keysWritten(text: string): number {
  const key = /"(?:[^"\\]|\\.)*"\s*:/g;
  let keys = 0;
  while (key.test(text)) keys++;
  return keys;
}

function checkDocument(
  document: LocatedDocument,
  name: string,
  read: readonly Diagnostic[],
): CheckedScenario {
  const found: Diagnostic[] = [];
  const shapeReport: Report<ShapeCode> = (code, pointer, message, more) => {
    const list: Diagnostic[] = [];
    errorsTo<ShapeCode>(list, document, SCENARIO_FILE.prefix)(code, pointer, message, more);
    for (const each of list) {
      // Rows of one table have their findings at the same place.
      if (!found.some((other) => other.pointer === each.pointer && other.message === each.message)) {
        found.push(each);
      }
    }
  };
  const depart = reportDepartures(shapeReport);
  const shell = shaped(SHELL_SHAPE, document.value, '', depart) as ScenarioShell | undefined;
  const report = reportWith<ScenarioCode>(found, document, (code) => SCENARIO_CODES[code].severity);
  const rows: CaseRow[] = [];
  for (const [index, given] of (shell?.cases ?? []).entries()) {
    const pointer = pointerTo('/cases', index);
    const all = expanded(given, pointer, shell?.variables ?? {}, depart, report);
    for (const [at, { row, value }] of all.entries()) {
      const config = shaped(CASE_SHAPE, value, pointer, depart) as CaseConfig | undefined;
      if (typeof config?.name !== 'string') continue;
      const caseName = row === null ? config.name : nameOfRow(nameBefore(given), row);
      const tags = [...(shell?.defaults?.tags ?? []), ...(config.tags ?? [])];
      const tableRow = row === null ? {} : { tableRow: { index: at, of: all.length } };
      rows.push({ name: caseName, tags, pointer, row, config, ...tableRow });
    }
  }
  if (shell !== undefined) {
    checkShell(shell, report);
    if (!hasErrors(found)) checkCases(shell, rows, report);
  }
  const all = [...read, ...found].sort((one, other) => (one.span?.start ?? 0) - (other.span?.start ?? 0));
  const scenario = shell === undefined || hasErrors(all) ? null : { shell, cases: rows };
  return checkedOf(scenario, all, document, name);
}

function nameBefore(given: unknown): string {
  return String((given as { readonly name?: unknown }).name);
}

function expanded(
  given: unknown,
  pointer: string,
  variables: Row,
  depart: Parameters<typeof shaped>[3],
  report: Report<ScenarioCode>,
): { readonly row: Row | null; readonly value: unknown }[] {
  if (typeof given !== 'object' || given === null || !('each' in given))
    return [{ row: null, value: filledWith(given, variables) }];
  const { each, ...rest } = given;
  const sound = shaped(EACH_SHAPE, each, pointerTo(pointer, 'each'), depart);
  if (sound === undefined) return [];
  const rows = rowsOf(each);
  if (rows.length === 0) report('scenario.empty_table', pointerTo(pointer, 'each'), 'the table has no rows');
  return rows.map((row) => ({ row, value: filled(rest, { ...variables, ...row }) }));
}

/** Most files have no variables. */
function filledWith(given: unknown, variables: Row): unknown {
  return Object.keys(variables).length === 0 ? given : filled(given, variables);
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

function checkCases(shell: ScenarioShell, rows: readonly CaseRow[], report: Report<ScenarioCode>): void {
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
      const hint = didYouMean(suggest(misspelt.text, ['snapshot']));
      report('scenario.bad_expectation', misspelt.pointer, message, { hint });
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
    if (asked.has(name)) continue;
    report(
      'scenario.unused_identity',
      pointerTo('/identities', name),
      `no case sends requests as ${quoted(name)}`,
      {
        at: 'key',
      },
    );
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
): CheckedScenario {
  let lines: Lines | undefined;
  const { source } = document;
  return {
    scenario,
    diagnostics,
    document,
    name,
    spanOf: document.spanOf,
    report: (list) => reportWith<ScenarioCode>(list, document, (code) => SCENARIO_CODES[code].severity),
    lineOf: (pointer) => {
      const span = document.keySpanOf(pointer) ?? document.spanOf(pointer);
      if (source === undefined || span === undefined) return 0;
      return positionAt((lines ??= linesOf(source.text)), span.start).line;
    },
  };
}
