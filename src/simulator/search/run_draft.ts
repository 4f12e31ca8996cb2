import { hasErrors } from '../../diagnostics/diagnostic.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { plainDocument } from '../../config_file/document.ts';
import { reportWith } from '../../config_file/report.ts';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import { type CompiledCase, type CompiledStep } from '../compile_case.ts';
import { dialledBackends } from '../case_setting.ts';
import { compileUpstreams } from '../document/answers.ts';
import type { ScenarioCode } from '../document/codes.ts';
import type { UpstreamConfig } from '../document/schema.ts';
import type { SimulatedRequest } from '../simulated_request.ts';
import { runCase } from '../run_case.ts';
import type { EdgeFixture } from '../../coverage/edge_fixture.ts';
import type { UpstreamScript } from '../upstreams.ts';
import { readIdentities } from '../../dev_idp/identities.ts';
import type { ConnectionOutcome } from '../run_connect.ts';
import { hasLogins } from './gate_pools.ts';
import { type Draft, answersOf, factsOf, preparedConnection, preparedDraft } from './draft.ts';

/** The result of a draft. */
export interface DraftRun {
  /** Its requests in the order of sending; the last is the final one. */
  readonly simulatedRequests: readonly SimulatedRequest[];
  /** Its connection, for a draft with one. */
  readonly connection: ConnectionOutcome | null;
}

export type RunDraft = (draft: Draft) => DraftRun;

const NOTHING: DraftRun = { simulatedRequests: [], connection: null };

/** Runs drafts on an edge. An invalid one has an empty result. */
export function draftRunner(edge: EdgeFixture): RunDraft {
  const scripts = scriptCache(edge.config);
  const withLogins = hasLogins(edge.config);
  return (draft) => {
    const compiled = compiledDraft(draft, scripts, withLogins);
    if (compiled === null) return NOTHING;
    const simulatedRequests: SimulatedRequest[] = [];
    let connection: ConnectionOutcome | null = null;
    runCase(compiled, edge, {
      completed: (simulated) => void simulatedRequests.push(simulated),
      connected: (outcome) => void (connection = outcome),
    });
    return { simulatedRequests: simulatedRequests.sort((one, other) => one.index - other.index), connection };
  };
}

type Scripts = (given: Draft['upstreams']) => ReadonlyMap<string, UpstreamScript>;

function scriptCache(config: EdgeConfig): Scripts {
  const known = new Map<string, ReadonlyMap<string, UpstreamScript>>();
  const backends = dialledBackends(config);
  return (given) => {
    const key = JSON.stringify(given);
    let scripts = known.get(key);
    if (scripts === undefined) known.set(key, (scripts = compiledScripts(given, backends)));
    return scripts;
  };
}

function compiledScripts(
  given: Readonly<Record<string, UpstreamConfig>>,
  backends: readonly string[],
): ReadonlyMap<string, UpstreamScript> {
  const findings: Diagnostic[] = [];
  const report = reportWith<ScenarioCode>(findings, plainDocument(undefined), () => 'error');
  const scripts = compileUpstreams(given, '', backends, report);
  if (hasErrors(findings)) throw new Error(`a generated script is invalid: ${findings[0]!.message}`);
  return scripts;
}

function compiledDraft(draft: Draft, scripts: Scripts, withLogins: boolean): CompiledCase | null {
  const connection = preparedConnection(draft);
  const request = connection === null ? preparedDraft(draft) : null;
  const { before, startMs, seed, as } = draft;
  const base = {
    row: { name: '', tags: [], pointer: '', row: null, config: { name: '' } },
    startMs,
    seed,
    headMs: -1,
    facts: factsOf(draft),
    upstreams: scripts(draft.upstreams),
    snapshot: false,
    identities: as !== null ? readIdentities({ [as.name]: as.facts }).identities : withLogins ? [] : null,
  } as const;
  if (connection !== null) return { ...base, plan: { kind: 'connect', connection, expectations: [] } };
  if (request === null) return null;
  if (before === null) return { ...base, plan: { kind: 'one', request, expectations: [] } };
  const step = {
    request,
    everyMs: before.everyMs,
    expectations: [],
    counts: null,
    pointer: '',
  } as const;
  const lastMs = startMs + (before.count - 1) * before.everyMs;
  const steps: CompiledStep[] = [
    { ...step, atMs: startMs, upstreams: scripts(before.upstreams), count: before.count },
    { ...step, atMs: lastMs + before.thenMs, upstreams: scripts(answersOf(draft)), count: 1 },
  ];
  return { ...base, plan: { kind: 'timeline', steps } };
}
