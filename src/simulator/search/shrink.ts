import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { type CompiledCase, compileCase } from '../compile_case.ts';
import { type CaseSetting } from '../case_setting.ts';
import type { CaseRow } from '../document/scenario.ts';
import type { StepConfig } from '../document/schema.ts';
import type { Mismatch } from '../result.ts';
import { runCase } from '../run_case.ts';
import { writtenSnapshot } from '../snapshot.ts';
import type { EdgeFixture } from '../../coverage/edge_fixture.ts';

/** Maximum number of runs for shrinking; runs with more requests than the second limit are too slow. */
const RUN_LIMIT = 400;
const REQUEST_LIMIT = 20_000;

/** The failure without its times, which shrinking changes. */
function failureKey({ what, expected, received }: Mismatch): string {
  return `${what.replace(/ at [\d.]+ ms$/, '')} ${expected} ${received}`;
}

/**
 * Reduces a failing timeline as far as the same expectation fails in the same way: steps are removed, bursts
 * shortened, scripts removed, with the failing seed. Null if nothing could be removed, or if the failure is a
 * count, which any change would affect.
 */
export function shrunkCase(
  compiled: CompiledCase,
  mismatches: readonly Mismatch[],
  requests: number,
  setting: CaseSetting,
  edge: EdgeFixture,
): string | null {
  const { row, seed } = compiled;
  const { timeline } = row.config;
  const failure = mismatches.find(({ what }) => what !== 'counts' && what !== 'timeline');
  if (timeline === undefined || failure === undefined || requests > REQUEST_LIMIT) return null;
  const wanted = failureKey(failure);
  let runs = 0;
  const fails = (steps: readonly StepConfig[]): boolean => {
    if (steps.length === 0 || ++runs > RUN_LIMIT) return false;
    const findings: Diagnostic[] = [];
    const ready = compileCase(rowWith(row, steps), { ...setting, seed }, findings);
    return ready !== null && runCase(ready, edge).mismatches.some((each) => failureKey(each) === wanted);
  };
  const small = smallest(timeline, fails);
  if (small === timeline) return null;
  const config = { ...row.config, name: row.name, seed, timeline: small };
  return `- ${writtenSnapshot(config, 'yaml')}`;
}

function rowWith(row: CaseRow, timeline: readonly StepConfig[]): CaseRow {
  return { ...row, config: { ...row.config, timeline: [...timeline] } };
}

/** Reduces one thing after another until nothing can be reduced. */
function smallest(
  steps: readonly StepConfig[],
  fails: (steps: readonly StepConfig[]) => boolean,
): readonly StepConfig[] {
  let current = steps;
  for (let isSmaller = true; isSmaller;) {
    const next = smallerOf(current).find((candidate) => fails(candidate));
    isSmaller = next !== undefined;
    if (next !== undefined) current = next;
  }
  return current;
}

/** All slightly smaller timelines: the greatest savings first. */
function smallerOf(steps: readonly StepConfig[]): (readonly StepConfig[])[] {
  const found: (readonly StepConfig[])[] = steps.map((_step, at) => steps.toSpliced(at, 1));
  for (const [at, step] of steps.entries()) {
    for (const smaller of smallerSteps(step)) found.push(steps.with(at, smaller));
  }
  return found;
}

function smallerSteps(step: StepConfig): StepConfig[] {
  const found: StepConfig[] = [];
  const { send } = step;
  if (typeof send === 'object' && send.count !== undefined && send.count > 1) {
    const { count } = send;
    for (const fewer of new Set([1, count >> 1, count - 1]))
      found.push({ ...step, send: { ...send, count: fewer } });
  }
  for (const part of ['upstreams', 'agents'] as const) {
    const { [part]: changed = {}, ...rest } = step;
    for (const name of Object.keys(changed)) {
      const others = Object.entries<unknown>(changed).filter(([other]) => other !== name);
      found.push({ ...rest, ...(others.length > 0 && { [part]: Object.fromEntries(others) }) });
    }
  }
  return found;
}
