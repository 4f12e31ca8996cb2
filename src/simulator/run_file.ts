import type { Report } from '../diagnostics/report.ts';
import type { ScenarioCode } from './document/codes.ts';
import { type Diagnostic, hasErrors, pointerTo } from '../diagnostics/diagnostic.ts';
import { quoted } from '../diagnostics/message_text.ts';
import { type CompiledCase, compileCase } from './compile_case.ts';
import { type CaseSetting, fileSetting } from './case_setting.ts';
import type { CheckedScenario } from './document/check.ts';
import type { CaseRow, Scenario } from './document/scenario.ts';
import type { Signer } from './document/requests.ts';
import { valuedEdge } from './expect/expression_values.ts';
import { nearMiss } from './near_miss.ts';
import type { CaseResult, FileResult } from './result.ts';
import { explain } from './case_world.ts';
import { type Ran, type RunOptions, runCase } from './run_case.ts';
import { shrunkCase } from './search/shrink.ts';
import type { EdgeFixture } from '../coverage/edge_fixture.ts';

/** Options for running the cases of files. */
export interface FileOptions extends RunOptions {
  readonly selects: (row: CaseRow) => boolean;
  readonly seed: number | string | null;
  readonly repeat: number;
  readonly bail: boolean;
  /** Whether each `snapshot` will be filled in: then a case with one does not fail for it. */
  readonly fillsSnapshots?: boolean;
  readonly signer: Signer | null;
  /** Configurations that steps write. */
  readonly configured?: CaseSetting['configured'];
  /** Whether passed cases are reported with their lines, which takes time. */
  readonly lines: boolean;
  /** Whether passed cases are explained, too: each is run once more for it. */
  readonly explainsPassed?: boolean;
  /** Called with each result; returns whether to continue. */
  readonly onResult: (result: CaseResult) => boolean;
  /** Milliseconds of real time, for the duration of cases. */
  readonly clockMs: () => number;
}

/** Whether a file needs a signer. */
export function needsSigner({ shell, cases }: Scenario): boolean {
  const { defaults, simulation } = shell;
  return (
    isSigned(defaults?.request) ||
    (simulation?.arrivals.some(({ request }) => isSigned(request)) ?? false) ||
    cases.some(
      ({ config: { request, sample, timeline } }) =>
        isSigned(request) ||
        isSigned(sample?.request) ||
        timeline?.some(({ send }) => isSigned(send)) === true,
    )
  );
}

function isSigned(request: unknown): boolean {
  return typeof request === 'object' && request !== null && 'sign' in request && request.sign !== undefined;
}

/** Runs the selected cases of a checked file against its edge. */
export function runFile(checked: CheckedScenario, edge: EdgeFixture, options: FileOptions): FileResult {
  const findings: Diagnostic[] = [...checked.diagnostics];
  const { scenario } = checked;
  if (scenario === null) return { file: checked.name, cases: [], diagnostics: findings, isWhole: true };
  const { shell } = scenario;
  const { signer, seed, configured } = options;
  const given = { checked, shell, edge: edge.config, signer, seed, ...(configured && { configured }) };
  const setting = fileSetting(given, findings);
  const compiled: (CompiledCase | { readonly skipped: CaseRow })[] = [];
  let isWhole = true;
  for (const row of scenario.cases) {
    if (!options.selects(row)) {
      isWhole = false;
      continue;
    }
    const { skip } = row.config;
    if (skip !== undefined && skip !== false) compiled.push({ skipped: row });
    else {
      const ready = compileCase(row, setting, findings);
      if (ready !== null) compiled.push(ready);
    }
  }
  const diagnostics = distinct(findings);
  if (hasErrors(diagnostics)) return { file: checked.name, cases: [], diagnostics, isWhole };
  const cases: CaseResult[] = [];
  const noted: Diagnostic[] = [];
  const note = checked.report(noted);
  const used = new Set<string>();
  for (const each of compiled) {
    const result =
      'skipped' in each
        ? skippedResult(each.skipped, checked)
        : runRepeated(each, setting, edge, { ...options, note }, used);
    cases.push(result);
    if (!options.onResult(result) || (options.bail && result.status === 'failed')) {
      isWhole = false;
      break;
    }
  }
  const isAll = isWhole && !compiled.some((each) => 'skipped' in each);
  const unused = isAll && shell.simulation === undefined ? unusedUpstreams(checked, scenario, used) : [];
  return { file: checked.name, cases, diagnostics: [...diagnostics, ...noted, ...unused], isWhole };
}

/** Rows of one table have their findings at the same place. */
function distinct(findings: readonly Diagnostic[]): Diagnostic[] {
  const seen = new Set<string>();
  return findings.filter(({ pointer, message }) => {
    const key = `${pointer} ${message}`;
    return seen.has(key) ? false : seen.add(key);
  });
}

function runRepeated(
  compiled: CompiledCase,
  setting: CaseSetting,
  edge: EdgeFixture,
  options: FileOptions & { readonly note: Report<ScenarioCode> },
  used: Set<string>,
): CaseResult {
  const { checked } = setting;
  const beganMs = options.clockMs();
  let ran: Ran;
  let seed = compiled.seed;
  let repetition = 0;
  do {
    // Each repetition has its own randomness; the first uses the case's seed.
    seed = repetition === 0 ? compiled.seed : `${compiled.seed}+${repetition}`;
    ran = runCase({ ...compiled, seed }, edge, options);
    for (const name of ran.used) used.add(name);
  } while (ran.mismatches.length === 0 && ++repetition < options.repeat);
  if (options.repeat === 1) noteChance(compiled, ran, edge, options.note);
  const tookMs = options.clockMs() - beganMs;
  const place = placeOf(
    compiled.row,
    checked,
    options.lines || ran.mismatches.length > 0 || ran.snapshots.length > 0,
  );
  const found = resultOf({ ...compiled, seed }, ran, setting, edge, { ...place, tookMs });
  const isExplained = options.explainsPassed === true && found.status === 'passed';
  const result = isExplained
    ? { ...found, explained: explainedLast({ ...compiled, seed }, ran, edge) }
    : found;
  const isOpen = result.snapshots.length > 0 && options.fillsSnapshots !== true;
  return isOpen ? { ...result, status: 'failed' } : result;
}

/** Other seeds with which a case is run that has passed and depends on chance. */
const OTHER_SEEDS = 3;

/** Warns about a case that passes only by its seed; one with a seed of its own means it. */
function noteChance(compiled: CompiledCase, ran: Ran, edge: EdgeFixture, note: Report<ScenarioCode>): void {
  const { row, seed } = compiled;
  const isMeant = row.config.seed !== undefined || ran.mismatches.length > 0 || ran.snapshots.length > 0;
  if (!ran.usesChance || isMeant || ran.requests > AGAIN_LIMIT) return;
  for (let other = 1; other <= OTHER_SEEDS; other++) {
    const [first] = runCase({ ...compiled, seed: `${seed}+${other}` }, edge.unwatched()).mismatches;
    if (first === undefined) continue;
    const { what, expected, received } = first;
    const message = `case ${quoted(row.name)} passes by chance: with another seed, ${what} is ${received}, not ${expected}`;
    const notes = [
      'expect what every choice has in common, use `sample` for shares, or set `seed` in the case',
    ];
    return note('scenario.by_chance', row.pointer, message, { notes });
  }
}

function resultOf(
  compiled: CompiledCase,
  ran: Ran,
  setting: CaseSetting,
  edge: EdgeFixture,
  place: ReturnType<typeof placeOf> & { readonly tookMs: number },
): CaseResult {
  const { row, seed } = compiled;
  const { checked } = setting;
  const isFailed = ran.mismatches.length > 0;
  return {
    ...place,
    requests: ran.requests,
    seed,
    shares: ran.shares,
    snapshots: ran.snapshots,
    tableRow: row.tableRow ?? null,
    status: isFailed ? 'failed' : 'passed',
    mismatches: ran.mismatches.map((each) => ({ ...each, line: checked.lineOf(each.pointer) })),
    explained: isFailed ? explainedInFull(compiled, ran, edge) : null,
    near: isFailed ? nearMiss(compiled, edge.unwatched()) : null,
    shrunk: isFailed ? shrunkCase(compiled, ran.mismatches, ran.requests, setting, edge.unwatched()) : null,
    skipped: null,
  };
}

/** Maximum number of requests of a case that is run again for its explanation. */
const AGAIN_LIMIT = 10_000;

/** Policies report unapplied rules only in a full trace, so a failed case is run once more. */
function explainedInFull(compiled: CompiledCase, ran: Ran, edge: EdgeFixture): Ran['explained'] {
  const traced = edge.traced();
  if (traced === edge || ran.explained === null || ran.requests > AGAIN_LIMIT) return ran.explained;
  const { edge: valuedBy, watch } = valuedEdge(traced);
  const { index } = ran.explained;
  watch.begin();
  const again = runCase(compiled, valuedBy, {
    sent: (simulated) => {
      if (simulated.index === index) watch.follow(simulated.exchange.connection);
    },
  }).explained;
  return again === null ? ran.explained : { ...again, values: watch.values() };
}

/** The last request or connection of a case that has passed; null for a sample, which has no single one. */
function explainedLast(compiled: CompiledCase, ran: Ran, edge: EdgeFixture): CaseResult['explained'] {
  if (ran.shares !== null || ran.requests > AGAIN_LIMIT) return null;
  const { edge: valuedBy, watch } = valuedEdge(edge.traced());
  let last: Parameters<typeof explain>[0] | null = null;
  watch.begin();
  runCase(compiled, valuedBy, {
    sent: ({ exchange }) => watch.follow(exchange.connection),
    completed: ({ exchange, index }) => (last = { exchange, index }),
    connected: ({ exchange }) => (last = { exchange, index: 0 }),
  });
  const explained = last === null ? null : explain(last, edge);
  return explained === null ? null : { ...explained, values: watch.values() };
}

function placeOf(row: CaseRow, checked: CheckedScenario, isLocated: boolean) {
  const line = isLocated ? checked.lineOf(pointerTo(row.pointer, 'name')) : 0;
  return { file: checked.name, name: row.name, line, tags: row.tags };
}

function skippedResult(row: CaseRow, checked: CheckedScenario): CaseResult {
  const { skip } = row.config;
  return {
    ...placeOf(row, checked, true),
    status: 'skipped',
    skipped: typeof skip === 'string' ? skip : '',
    tookMs: 0,
    requests: 0,
    seed: '',
    shares: null,
    mismatches: [],
    snapshots: [],
    tableRow: row.tableRow ?? null,
    explained: null,
    near: null,
    shrunk: null,
  };
}

/** Scripts that no case used are usually misspelt, or left over. */
function unusedUpstreams(
  checked: CheckedScenario,
  { shell }: Scenario,
  used: ReadonlySet<string>,
): Diagnostic[] {
  const findings: Diagnostic[] = [];
  const report = checked.report(findings);
  for (const name of Object.keys(shell.upstreams ?? {})) {
    const pointer = pointerTo('/upstreams', name);
    if (used.has(name) || !checked.isOwn(pointer)) continue;
    const message = `no case used the scripted upstream ${quoted(name)}`;
    report('scenario.unused_upstream', pointer, message, { at: 'key' });
  }
  return findings;
}

/** Runs every case once, without lines, signer and timing: for callers that only need the results. */
export const ONCE: FileOptions = {
  selects: () => true,
  seed: null,
  repeat: 1,
  bail: false,
  lines: false,
  signer: null,
  onResult: () => true,
  clockMs: () => 0,
};
