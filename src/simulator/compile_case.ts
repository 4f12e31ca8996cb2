import { type Diagnostic, hasErrors, pointerTo } from '../diagnostics/diagnostic.ts';
import type { Identity } from '../dev_idp/identities.ts';
import { type Captured, type Capturing, compileCaptures, requestOfStep } from './captures.ts';
import { type CaseSetting, type FileSetting, fileSetting, settingOf } from './case_setting.ts';
import type { AgentChange } from './agents.ts';
import { type KnownAgents, compileAgents, edgeWithAgents, namesWithAgents } from './document/agents.ts';
import { compileUpstreams } from './document/answers.ts';
import { atRow } from './document/check.ts';
import type { CaseRow } from './document/scenario.ts';
import { changedIdentities, identitiesOf } from './document/identities.ts';
import { type NodesContext, compileNodesChange } from './document/nodes.ts';
import type { NodesChange, NodesSetting } from './nodes/setting.ts';
import { durationMs } from './document/durations.ts';
import { type RequestSetting, prepareCurl, prepareRaw, prepareRequest } from './document/requests.ts';
import { type PreparedConnection, prepareConnection } from './document/connections.ts';
import type { CaseConfig, StepConfig } from './document/schema.ts';
import { type Counts, compileCounts } from './expect/counts.ts';
import { compileExpectation } from './expect/expectation.ts';
import type { Expectation, ExpectationContext } from './expect/expectation_context.ts';
import { type StreamExpectation, compileStreamExpectation } from './expect/stream_expectation.ts';
import { type CompiledSample, compileSample } from './sample.ts';
import type { PreparedRequest } from './simulator.ts';
import { type ConnectionStep, compileConnectionStep } from './timeline_connections.ts';
import type { UpstreamScript } from './upstreams.ts';

/** A case ready to run. */
export interface CompiledCase {
  readonly row: CaseRow;
  readonly startMs: number;
  readonly seed: number | string;
  readonly headMs: number;
  /** Facts about addresses, in the form of an edge file. */
  readonly facts: readonly unknown[];
  /** The scripts of the case; where it has none, those of the file, which all its cases share. */
  readonly upstreams: ReadonlyMap<string, UpstreamScript>;
  readonly fileUpstreams?: ReadonlyMap<string, UpstreamScript>;
  readonly agents: readonly AgentChange[];
  /** The members of these agents as they were given, by name. */
  readonly knownAgents: KnownAgents;
  /** Users who can log in; null if the file names none. */
  readonly identities?: readonly Identity[] | null;
  /** The nodes of a timeline; absent for one. */
  readonly nodes?: NodesSetting | null;
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
  | { readonly kind: 'timeline'; readonly steps: readonly CompiledStep[]; readonly captured: Captured }
  | { readonly kind: 'sample'; readonly request: PreparedRequest; readonly sample: CompiledSample };

/** One step of a timeline, its times absolute. */
export interface CompiledStep {
  readonly atMs: number;
  readonly upstreams: ReadonlyMap<string, UpstreamScript>;
  readonly agents?: readonly AgentChange[];
  /** What happens to nodes. */
  readonly atNodes?: readonly NodesChange[];
  /** Users who can log in from this step on; null for no change. */
  readonly identities?: readonly Identity[] | null;
  readonly request: PreparedRequest | null;
  /** What it does with a connection; null for nothing. */
  readonly connection?: ConnectionStep | null;
  readonly count: number;
  readonly everyMs: number;
  readonly expectations: readonly Expectation[];
  readonly counts: Counts | null;
  /** Whether its expectation still has to be filled in. */
  readonly snapshot?: boolean;
  readonly capture?: Capturing;
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
  const { report, request, startMs, seed, headMs, facts, among } = isPlain(config)
    ? setting.common
    : settingOf(setting, findings, row);
  const upstreams = compileUpstreams(config.upstreams, `${pointer}/upstreams`, dialled, report);
  const own = compileAgents(config.agents, `${pointer}/agents`, setting.agents.known, setting.edge, report);
  const plan = planOf(row, setting, own.known, { request, among, report });
  if (row.place !== undefined) noteRow(findings, before, row.place);
  if (plan === null || hasErrors(findings.slice(before))) return null;
  const identities = identitiesOf(shell);
  const snapshot = config.expect === 'snapshot';
  const agents = { agents: [...setting.agents.changes, ...own.changes], knownAgents: own.known };
  const scripts = { upstreams, fileUpstreams: setting.upstreams };
  const nodes = plan.kind === 'timeline' ? among.nodes : null;
  return { row, startMs, seed, headMs, facts, ...scripts, ...agents, identities, nodes, plan, snapshot };
}

/** Adds the row of a table in another file to the new findings about it. */
function noteRow(findings: Diagnostic[], from: number, place: string): void {
  for (let at = from; at < findings.length; at++) {
    const { notes = [], ...finding } = findings[at]!;
    findings[at] = { ...finding, notes: [...notes, atRow(place)] };
  }
}

/** Whether a case has no overrides of the file's setting. */
function isPlain({ clock, seed, facts, client_certificate: certificate }: CaseConfig): boolean {
  return clock === undefined && seed === undefined && facts === undefined && certificate === undefined;
}

function planOf(
  { config, pointer }: CaseRow,
  setting: FileSetting,
  agents: KnownAgents,
  { request, among, report }: Pick<ReturnType<typeof settingOf>, 'request' | 'among' | 'report'>,
): Plan | null {
  const later = (config.timeline ?? []).flatMap((step) => Object.entries(step.agents ?? {}));
  const branding = { ...namesWithAgents(setting.naming, [...agents, ...later]), report };
  const expected = (given: unknown, at: string): Expectation[] =>
    typeof given === 'object' && given !== null ? compileExpectation(given, at, branding) : [];
  const { timeline, sample, connect } = config;
  if (connect !== undefined) {
    const edge = edgeWithAgents(setting.edge, agents);
    const connection = prepareConnection(connect, `${pointer}/connect`, edge, request);
    const { expect } = config;
    const at = `${pointer}/expect`;
    const expectations = typeof expect === 'object' ? compileStreamExpectation(expect, at, branding) : [];
    return connection === null ? null : { kind: 'connect', connection, expectations };
  }
  if (timeline !== undefined) {
    const steps = timeline.map((step, index) => ({ step, at: pointerTo(`${pointer}/timeline`, index) }));
    return timelinePlan(steps, setting, agents, { request, among }, expected, branding);
  }
  if (sample !== undefined) {
    const prepared = prepareRequest(sample.request ?? {}, `${pointer}/sample/request`, request);
    const compiled = compileSample(sample, `${pointer}/sample`, { edge: setting.edge, agents }, report);
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
  agents: KnownAgents,
  { request, among }: { readonly request: RequestSetting; readonly among: NodesContext },
  expected: (given: unknown, at: string) => Expectation[],
  context: ExpectationContext,
): Plan {
  const { report } = context;
  const open = new Set<string>();
  let cursorMs = 0;
  let known = agents;
  const captured: Captured = new Map();
  const names: string[] = [];
  const connectionOf = (step: StepConfig, at: string, online: KnownAgents): ConnectionStep | null => {
    const edge = step.connect === undefined ? setting.edge : edgeWithAgents(setting.edge, online);
    return compileConnectionStep(step, at, { edge, request, open }, context);
  };
  const compiled = steps.map(({ step, at }): CompiledStep => {
    const { send, capture } = step;
    const before = [...names];
    names.push(...Object.keys(capture ?? {}));
    if (step.at !== undefined) cursorMs = durationMs(step.at);
    if (step.advance !== undefined) cursorMs += durationMs(step.advance);
    const atMs = request.startMs + cursorMs;
    const { count = 1, every } = typeof send === 'object' ? send : {};
    const everyMs = every === undefined ? 0 : durationMs(every);
    if (send !== undefined) cursorMs += (count - 1) * everyMs;
    else if (step.expect !== undefined && step.connect === undefined) {
      const message = 'a step that neither sends nor connects cannot have expectations';
      report('scenario.bad_expectation', `${at}/expect`, message);
    }
    const expect = step.connect === undefined ? step.expect : undefined;
    const changed = compileAgents(step.agents, `${at}/agents`, known, setting.edge, report);
    ({ known } = changed);
    return {
      atMs,
      upstreams: compileUpstreams(step.upstreams, `${at}/upstreams`, setting.dialled, report),
      agents: changed.changes,
      atNodes: compileNodesChange(step, at, among),
      identities: step.identities === undefined ? null : changedIdentities(setting.shell, step.identities),
      request: send === undefined ? null : requestOfStep(send, `${at}/send`, request, before, captured),
      count,
      everyMs,
      connection: connectionOf(step, at, known),
      expectations: expected(expect, `${at}/expect`),
      counts: typeof expect === 'object' ? compileCounts(expect.counts, `${at}/expect/counts`, report) : null,
      snapshot: step.expect === 'snapshot',
      ...(capture && { capture: compileCaptures(capture, `${at}/capture`, report) }),
      pointer: at,
    };
  });
  return { kind: 'timeline', steps: compiled, captured };
}
