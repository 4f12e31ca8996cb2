import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { Report } from '../diagnostics/report.ts';
import type { Identity } from '../dev_idp/identities.ts';
import { type CaseSetting, type FileSetting, fileSetting, settingOf } from './case_setting.ts';
import { compileUpstreams } from './document/answers.ts';
import type { CaseRow } from './document/check.ts';
import type { ScenarioCode } from './document/codes.ts';
import { changedIdentities, identitiesOf } from './document/identities.ts';
import { durationMs } from './document/durations.ts';
import { type RequestSetting, prepareCurl, prepareRaw, prepareRequest } from './document/requests.ts';
import { type PreparedConnection, prepareConnection } from './document/connections.ts';
import type { CaseConfig, StepConfig } from './document/schema.ts';
import { type Counts, compileCounts } from './expect/counts.ts';
import { compileExpectation } from './expect/expectation.ts';
import type { Expectation } from './expect/expectation_context.ts';
import { type StreamExpectation, compileStreamExpectation } from './expect/stream_expectation.ts';
import { type CompiledSample, compileSample } from './sample.ts';
import type { PreparedRequest } from './simulator.ts';
import type { UpstreamScript } from './upstreams.ts';

/** A case ready to run. */
export interface CompiledCase {
  readonly row: CaseRow;
  readonly startMs: number;
  readonly seed: number | string;
  readonly headMs: number;
  /** Facts about addresses, in the form of an edge file. */
  readonly facts: readonly unknown[];
  readonly upstreams: ReadonlyMap<string, UpstreamScript>;
  /** Users who can log in; null if the file names none. */
  readonly identities?: readonly Identity[] | null;
  readonly plan: Plan;
  /** Whether the expectation still has to be filled in from the result. */
  readonly snapshot: boolean;
}

export type Plan =
  | { readonly kind: 'one'; readonly request: PreparedRequest; readonly expectations: readonly Expectation[] }
  | {
      readonly kind: 'connect';
      readonly connection: PreparedConnection;
      readonly expectations: readonly StreamExpectation[];
    }
  | { readonly kind: 'timeline'; readonly steps: readonly CompiledStep[] }
  | { readonly kind: 'sample'; readonly request: PreparedRequest; readonly sample: CompiledSample };

/** One step of a timeline, its times absolute. */
export interface CompiledStep {
  readonly atMs: number;
  readonly upstreams: ReadonlyMap<string, UpstreamScript>;
  /** Users who can log in from this step on; null for no change. */
  readonly identities?: readonly Identity[] | null;
  readonly request: PreparedRequest | null;
  readonly count: number;
  readonly everyMs: number;
  readonly expectations: readonly Expectation[];
  readonly counts: Counts | null;
  /** Whether its expectation still has to be filled in. */
  readonly snapshot?: boolean;
  readonly pointer: string;
}

/** Compiles a case; null if it cannot be run; the reasons are in `findings`. */
export function compileCase(
  row: CaseRow,
  given: CaseSetting | FileSetting,
  findings: Diagnostic[],
): CompiledCase | null {
  const { config, pointer } = row;
  const before = findings.length;
  const setting = 'common' in given ? given : fileSetting(given, findings);
  const { dialled, shell } = setting;
  const { report, request, startMs, seed, headMs, facts } = isPlain(config)
    ? setting.common
    : settingOf(setting, findings, row);
  const upstreams =
    config.upstreams === undefined
      ? setting.upstreams
      : new Map([
          ...setting.upstreams,
          ...compileUpstreams(config.upstreams, `${pointer}/upstreams`, dialled, report),
        ]);
  const plan = planOf(row, setting, request, report);
  if (plan === null || findings.length > before) return null;
  const identities = identitiesOf(shell);
  const snapshot = config.expect === 'snapshot';
  return { row, startMs, seed, headMs, facts, upstreams, identities, plan, snapshot };
}

/** Whether a case has no overrides of the file's setting. */
function isPlain({ clock, seed, facts, client_certificate: certificate }: CaseConfig): boolean {
  return clock === undefined && seed === undefined && facts === undefined && certificate === undefined;
}

function planOf(
  { config, pointer }: CaseRow,
  setting: FileSetting,
  request: RequestSetting,
  report: Report<ScenarioCode>,
): Plan | null {
  const branding = { ...setting.naming, report };
  const expected = (given: unknown, at: string): Expectation[] =>
    typeof given === 'object' && given !== null ? compileExpectation(given, at, branding) : [];
  const { timeline, sample, connect } = config;
  if (connect !== undefined) {
    const connection = prepareConnection(connect, `${pointer}/connect`, setting.edge, request);
    const { expect } = config;
    const at = `${pointer}/expect`;
    const expectations = typeof expect === 'object' ? compileStreamExpectation(expect, at, branding) : [];
    return connection === null ? null : { kind: 'connect', connection, expectations };
  }
  if (timeline !== undefined) {
    const steps = timeline.map((step, index) => ({ step, at: pointerTo(`${pointer}/timeline`, index) }));
    return timelinePlan(steps, setting, request, expected, report);
  }
  if (sample !== undefined) {
    const prepared = prepareRequest(sample.request ?? {}, `${pointer}/sample/request`, request);
    const compiled = compileSample(sample, `${pointer}/sample`, setting.edge, report);
    return prepared === null || compiled === null
      ? null
      : { kind: 'sample', request: prepared, sample: compiled };
  }
  const prepared =
    config.curl === undefined
      ? config.raw === undefined
        ? prepareRequest(config.request ?? {}, `${pointer}/request`, request)
        : prepareRaw(config.raw, request)
      : prepareCurl(config.curl, `${pointer}/curl`, request);
  const { expect } = config;
  const expectations = expected(expect, `${pointer}/expect`);
  return prepared === null ? null : { kind: 'one', request: prepared, expectations };
}

function timelinePlan(
  steps: readonly { readonly step: StepConfig; readonly at: string }[],
  setting: FileSetting,
  request: RequestSetting,
  expected: (given: unknown, at: string) => Expectation[],
  report: Report<ScenarioCode>,
): Plan {
  let cursorMs = 0;
  const compiled = steps.map(({ step, at }): CompiledStep => {
    const { send } = step;
    if (step.at !== undefined) cursorMs = durationMs(step.at);
    if (step.advance !== undefined) cursorMs += durationMs(step.advance);
    const atMs = request.startMs + cursorMs;
    const { count = 1, every } = typeof send === 'object' ? send : {};
    const everyMs = every === undefined ? 0 : durationMs(every);
    if (send !== undefined) cursorMs += (count - 1) * everyMs;
    else if (step.expect !== undefined) {
      report(
        'scenario.bad_expectation',
        `${at}/expect`,
        'a step that sends nothing cannot have expectations',
      );
    }
    return {
      atMs,
      upstreams: compileUpstreams(step.upstreams, `${at}/upstreams`, setting.dialled, report),
      identities: step.identities === undefined ? null : changedIdentities(setting.shell, step.identities),
      request: send === undefined ? null : prepareRequest(send, `${at}/send`, request),
      count,
      everyMs,
      expectations: expected(step.expect, `${at}/expect`),
      counts:
        typeof step.expect === 'object'
          ? compileCounts(step.expect.counts, `${at}/expect/counts`, report)
          : null,
      snapshot: step.expect === 'snapshot',
      pointer: at,
    };
  });
  return { kind: 'timeline', steps: compiled };
}
