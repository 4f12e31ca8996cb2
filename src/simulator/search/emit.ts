import { hasErrors } from '../../diagnostics/diagnostic.ts';
import { checkScenario } from '../document/check.ts';
import { type CoveredEdge, coveredIds, triedEdge } from '../../coverage/coverage.ts';
import type { CoveragePoint } from '../../coverage/point.ts';
import type { CaseResult } from '../result.ts';
import { runFile, ONCE } from '../run_file.ts';
import { writtenSnapshot } from '../snapshot.ts';
import { type FoundCase, requestsOf } from './cover_points.ts';
import type { Draft } from './draft.ts';
import { editedNames } from './assertions.ts';
import { hasLogins } from './gate_pools.ts';
import { type WrittenCase, draftLine, nameFor, writtenCase } from './write_case.ts';

/** The subject of the emitted file: the edge or the policy, by path or inline. */
export type Tested = { readonly edge: unknown } | { readonly policy: unknown };

/** Identities by name. */
type Identities = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Cases that were run as in a scenario file, and pass. */
export interface EmittedCases {
  readonly cases: readonly WrittenCase[];
  /** Their identities, as in a scenario file; null without logins. */
  readonly identities: Identities | null;
  /** Points that they cover in addition. */
  readonly points: readonly CoveragePoint[];
  /** A description by point id. */
  readonly offered: ReadonlyMap<string, string>;
}

/** Writes found requests as cases, and runs them: cases that fail, or no longer cover any point, are dropped. */
export function emittedCases(
  covered: CoveredEdge,
  found: readonly FoundCase[],
  tested: Tested,
): EmittedCases {
  const names = new Map<string, number>();
  const edited = editedNames(covered.config, requestsOf(found));
  const written = found.map((each) => {
    const name = each.notices === undefined ? nameFor(each.points) : `notices: ${each.notices}`;
    const count = (names.get(name) ?? 0) + 1;
    names.set(name, count);
    const whole = count === 1 ? name : `${name} (${count})`;
    return { each, config: writtenCase(whole, each.draft, each.run(), edited) };
  });
  const identities = identitiesOf(found.map(({ draft }) => draft));
  const whole = { ...tested, ...(hasLogins(covered.edge.config) && { identities }) };
  const { sound, after } = passing(covered, written, whole);
  const offered = new Map<string, string>();
  const points: CoveragePoint[] = [];
  for (const { each } of sound) {
    for (const point of each.points) {
      if (!after.has(point.id)) continue;
      points.push(point);
      offered.set(point.id, draftLine(each.draft));
    }
  }
  const cases = sound.filter(
    ({ each }) => each.notices !== undefined || each.points.some(({ id }) => after.has(id)),
  );
  return {
    cases: cases.map(({ config }) => config),
    identities: hasLogins(covered.edge.config) ? identitiesOf(cases.map(({ each }) => each.draft)) : null,
    points,
    offered,
  };
}

function identitiesOf(drafts: readonly Draft[]): Identities {
  return Object.fromEntries(drafts.flatMap(({ as }) => (as === null ? [] : [[as.name, as.facts] as const])));
}

interface Written {
  readonly each: FoundCase;
  readonly config: WrittenCase;
}

/** The cases that pass, and the ids of the points that are covered after these ran in addition to the existing ones. */
function passing(
  covered: CoveredEdge,
  written: readonly Written[],
  tested: Tested,
): { readonly sound: readonly Written[]; readonly after: ReadonlySet<string> } {
  const tried = triedEdge(covered);
  const cases = written.map(({ config }) => config);
  const results = runWritten(tried, cases, tested);
  const passed = new Set(results.filter(({ status }) => status === 'passed').map(({ name }) => name));
  if (passed.size === written.length) return { sound: written, after: coveredIds(tried) };
  // What the others cover does not count, so that those that pass run again alone.
  return passing(
    covered,
    written.filter(({ config }) => passed.has(config.name)),
    tested,
  );
}

/** A checked case takes several times the memory of its data: only so many are in memory at once. */
const CHECKED_AT_ONCE = 50;

function runWritten(
  { edge }: CoveredEdge,
  cases: readonly WrittenCase[],
  tested: Tested,
): readonly CaseResult[] {
  const results: CaseResult[] = [];
  for (let at = 0; at < cases.length; at += CHECKED_AT_ONCE) {
    const some = cases.slice(at, at + CHECKED_AT_ONCE);
    const checked = checkScenario({ value: scenarioOf(some, tested), name: '<cases>' });
    if (hasErrors(checked.diagnostics))
      throw new Error(`a generated case is invalid: ${checked.diagnostics[0]!.message}`);
    const { cases: own, diagnostics } = runFile(checked, edge, ONCE);
    if (hasErrors(diagnostics)) throw new Error(`a generated case is invalid: ${diagnostics[0]!.message}`);
    results.push(...own);
  }
  return results;
}

function scenarioOf(cases: readonly WrittenCase[], tested: Tested): object {
  return { ...tested, cases };
}

const RECORDED =
  'Cases that cover what no other case did. Review their expectations: they record what happened.';

/**
 * Cases as the text of a scenario file: one line for each part of a case, in YAML or in JSON. In YAML it begins with a comment
 * that says what the cases are.
 */
export function scenarioText(
  { cases, identities }: Pick<EmittedCases, 'cases' | 'identities'>,
  of: Tested,
  form: 'yaml' | 'json',
  comment = RECORDED,
): string {
  const tested = { ...of, ...(identities !== null && { identities }) };
  if (form === 'json') return `${JSON.stringify(scenarioOf(cases, tested), null, 2)}\n`;
  const lines = [`# ${comment}`];
  for (const [key, value] of Object.entries(tested)) lines.push(`${key}: ${writtenSnapshot(value, 'yaml')}`);
  lines.push('', 'cases:');
  for (const { name, ...parts } of cases) {
    lines.push(`  - name: ${JSON.stringify(name)}`);
    for (const [key, value] of Object.entries(parts))
      lines.push(`    ${key}: ${writtenSnapshot(value, 'yaml')}`);
  }
  return `${lines.join('\n')}\n`;
}
