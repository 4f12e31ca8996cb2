import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { Report } from '../diagnostics/report.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import type { Identity } from '../dev_idp/identities.ts';
import { compileFacts } from '../policy/env/facts_table.ts';
import type { TlsFacts } from '../engine/connection.ts';
import { compileUpstreams } from './document/answers.ts';
import { statedCertificate } from './document/tls.ts';
import type { CaseRow, CheckedScenario } from './document/check.ts';
import type { ScenarioCode } from './document/codes.ts';
import { changedIdentities, identitiesOf } from './document/identities.ts';
import { durationMs, timeMs } from './document/durations.ts';
import {
  type Signer,
  type RequestSetting,
  prepareCurl,
  prepareRaw,
  prepareRequest,
} from './document/requests.ts';
import { type PreparedConnection, prepareConnection } from './document/connections.ts';
import type { CaseConfig, ScenarioShell, StepConfig } from './document/schema.ts';
import { type Expectation, compileExpectation } from './expect/expectation.ts';
import { type StreamExpectation, compileStreamExpectation } from './expect/stream_expectation.ts';
import { type CompiledSample, compileSample } from './sample.ts';
import type { PreparedRequest } from './simulator.ts';
import type { UpstreamScript } from './upstreams.ts';

export const DEFAULT_START_MS = Date.UTC(2026, 0, 1);
const DEFAULT_SEED = 1;

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
  readonly counts: Readonly<Record<string, number>> | null;
  /** Whether its expectation still has to be filled in. */
  readonly snapshot?: boolean;
  readonly pointer: string;
}

/** The common setting of a file's cases. */
export interface CaseSetting {
  readonly checked: CheckedScenario;
  readonly shell: ScenarioShell;
  readonly edge: EdgeConfig;
  readonly signer: Signer | null;
  /** Overrides the seed of the file. */
  readonly seed: number | string | null;
}

/** Backends that are dialled: these can be scripted. */
export function dialledBackends({ backends }: EdgeConfig): string[] {
  return Object.entries(backends).flatMap(([name, { static: dialled }]) =>
    dialled === undefined ? [] : [name],
  );
}

/** The parts that are the same for all cases without overrides: created once. */
export interface FileSetting extends CaseSetting {
  readonly backends: readonly string[];
  readonly dialled: readonly string[];
  readonly common: ReturnType<typeof settingOf>;
  readonly upstreams: ReadonlyMap<string, UpstreamScript>;
}

/** Prepares the common setting of a file's cases. */
export function fileSetting(setting: CaseSetting, findings: Diagnostic[]): FileSetting {
  const common = settingOf(setting, findings);
  const dialled = dialledBackends(setting.edge);
  const upstreams = compileUpstreams(setting.shell.upstreams, '/upstreams', dialled, common.report);
  return { ...setting, backends: Object.keys(setting.edge.backends), dialled, common, upstreams };
}

/** The setting for all requests of a file. */
export function settingOf(
  { shell, edge, signer, seed, checked }: CaseSetting,
  findings: Diagnostic[],
  row: CaseRow | null = null,
) {
  const report = checked.report(findings);
  const startMs = startOf(row, shell, report);
  const request: RequestSetting = {
    defaults: shell.defaults?.request ?? {},
    host: defaultHost(edge),
    tls: tlsOf(row, shell, report),
    startMs,
    signer,
    report,
  };
  const timeout = shell.defaults?.upstream_timeout;
  return {
    report,
    request,
    startMs,
    facts: factsOf(row, shell, report),
    seed: seed ?? row?.config.seed ?? shell.seed ?? DEFAULT_SEED,
    headMs: timeout === undefined ? -1 : durationMs(timeout),
  };
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

function startOf(row: CaseRow | null, shell: ScenarioShell, report: Report<ScenarioCode>): number {
  const own = row?.config.clock;
  const clock = own ?? shell.clock;
  if (clock === undefined) return DEFAULT_START_MS;
  const ms = timeMs(clock);
  if (Number.isNaN(ms)) {
    const at = own === undefined ? '/clock' : `${row!.pointer}/clock`;
    report('scenario.bad_time', at, `'${clock}' is not a time such as 2026-01-01T00:00:00Z`);
  }
  return ms;
}

/** The first host of the edge; `*` is replaced with a label. */
export function defaultHost({ edges }: EdgeConfig): string {
  const [first] = Object.values(edges.https);
  return first?.hostports[0]?.replace(/:\d+$/, '').replace('*', 'any') ?? 'edge.test';
}

/** The TLS facts of a case. A policy without an edge is tested on an edge that requests client certificates. */
function tlsOf(row: CaseRow | null, shell: ScenarioShell, report: Report<ScenarioCode>): Partial<TlsFacts> {
  const own = row?.config.client_certificate;
  const certificate = own ?? shell.client_certificate;
  if (certificate === undefined) return {};
  const pointer = `${own === undefined ? '' : row!.pointer}/client_certificate`;
  const clientCertificate = statedCertificate(certificate, pointer, report);
  return { clientCertificate, ...(shell.policy !== undefined && { edge: 'policy' }) };
}

/** Facts as in an edge file: those of the file, then those of the case, which win. Invalid ones are reported. */
function factsOf(
  row: CaseRow | null,
  shell: ScenarioShell,
  report: Report<ScenarioCode>,
): readonly unknown[] {
  const entries: unknown[] = [];
  const given = [
    [shell.facts, '/facts'],
    [row?.config.facts, `${row?.pointer ?? ''}/facts`],
  ] as const;
  for (const [facts, pointer] of given) {
    if (facts === undefined) continue;
    for (const { message, hint, pointer: at } of compileFacts(facts, pointer).diagnostics)
      report('scenario.bad_facts', factPointer(facts, pointer, at), message, { hint });
    entries.push(...(Array.isArray(facts) ? facts : [{ variables: facts }]));
  }
  return entries;
}

/** Variable names may be written with dots in one key, whereas findings have a pointer per part. */
function factPointer(facts: object, pointer: string, at: string): string {
  const dotted = at.slice(pointer.length + 1).replaceAll('/', '.');
  const key = Array.isArray(facts)
    ? undefined
    : Object.keys(facts).find((name) => name.includes('.') && `${dotted}.`.startsWith(`${name}.`));
  return key === undefined ? at : pointerTo(pointer, key);
}

function planOf(
  { config, pointer }: CaseRow,
  setting: FileSetting,
  request: RequestSetting,
  report: Report<ScenarioCode>,
): Plan | null {
  const branding = { backends: setting.backends, report };
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
      counts: typeof step.expect === 'object' ? (step.expect.counts ?? null) : null,
      snapshot: step.expect === 'snapshot',
      pointer: at,
    };
  });
  return { kind: 'timeline', steps: compiled };
}
