import { type Diagnostic, hasErrors } from '../../diagnostics/diagnostic.ts';
import type { Report } from '../../diagnostics/report.ts';
import { plainDocument } from '../../config_file/document.ts';
import { reportWith } from '../../config_file/report.ts';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import { type CompiledCase, type CompiledStep } from '../compile_case.ts';
import { dialledBackends } from '../case_setting.ts';
import { compileUpstreams } from '../document/answers.ts';
import { type CompiledAgents, NO_AGENTS, compileAgents } from '../document/agents.ts';
import { SCENARIO_CODES, type ScenarioCode } from '../document/codes.ts';
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

/** Compiles the scripts, and the agents, of drafts. */
interface Scripts {
  readonly upstreams: (given: Draft['upstreams']) => ReadonlyMap<string, UpstreamScript>;
  readonly agents: (given: Draft['agents']) => CompiledAgents;
}

function scriptCache(config: EdgeConfig): Scripts {
  const backends = dialledBackends(config);
  return {
    upstreams: cached((given, report) => compileUpstreams(given, '', backends, report)),
    agents: cached((given, report) => compileAgents(given, '', NO_AGENTS, config, report)),
  };
}

function severityOf(code: ScenarioCode) {
  return SCENARIO_CODES[code].severity;
}

function cached<Given, Compiled>(
  compile: (given: Given, report: Report<ScenarioCode>) => Compiled,
): (given: Given) => Compiled {
  const known = new Map<string, Compiled>();
  return (given) => {
    const key = JSON.stringify(given);
    let compiled = known.get(key);
    if (compiled === undefined) {
      const findings: Diagnostic[] = [];
      compiled = compile(given, reportWith<ScenarioCode>(findings, plainDocument(undefined), severityOf));
      if (hasErrors(findings)) throw new Error(`a generated script is invalid: ${findings[0]!.message}`);
      known.set(key, compiled);
    }
    return compiled;
  };
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
    upstreams: scripts.upstreams(draft.upstreams),
    agents: scripts.agents(draft.agents).changes,
    knownAgents: scripts.agents(draft.agents).known,
    snapshot: false,
    identities: as !== null ? readIdentities({ [as.name]: as.facts }).identities : withLogins ? [] : null,
  } as const;
  if (connection !== null) return { ...base, plan: { kind: 'connect', connection, expectations: [] } };
  if (request === null) return null;
  if (before === null) return { ...base, plan: { kind: 'one', request, expectations: [] } };
  const earlier = before.ip === undefined ? request : preparedDraft({ ...draft, ip: before.ip })!;
  const step = {
    request,
    everyMs: before.everyMs,
    expectations: [],
    counts: null,
    pointer: '',
  } as const;
  const lastMs = startMs + (before.count - 1) * before.everyMs;
  const steps: CompiledStep[] = [
    {
      ...step,
      request: earlier,
      atMs: startMs,
      upstreams: scripts.upstreams(before.upstreams),
      count: before.count,
    },
    { ...step, atMs: lastMs + before.thenMs, upstreams: scripts.upstreams(answersOf(draft)), count: 1 },
  ];
  return { ...base, plan: { kind: 'timeline', captured: new Map(), steps } };
}
