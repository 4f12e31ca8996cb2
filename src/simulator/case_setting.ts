import { placedAll } from '../coverage/placed_routes.ts';
import { type Diagnostic, pointerTo } from '../diagnostics/diagnostic.ts';
import type { Report } from '../diagnostics/report.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { compileFacts } from '../policy/env/facts_table.ts';
import type { TlsFacts } from '../engine/connection.ts';
import { type CompiledAgents, NO_AGENTS, compileAgents, tunnelGroups } from './document/agents.ts';
import { compileUpstreams } from './document/answers.ts';
import { statedCertificate } from './document/tls.ts';
import type { CheckedScenario } from './document/check.ts';
import type { CaseRow } from './document/scenario.ts';
import type { ScenarioCode } from './document/codes.ts';
import { identitiesOf } from './document/identities.ts';
import { type NodesContext, nodesOf } from './document/nodes.ts';
import type { NodesSetting } from './nodes/setting.ts';
import { durationMs, timeMs } from './document/durations.ts';
import { type Signer, type RequestSetting } from './document/requests.ts';
import type { ScenarioShell } from './document/schema.ts';
import { type ExpectationContext } from './expect/expectation_context.ts';
import type { UpstreamScript } from './upstreams.ts';

export const DEFAULT_START_MS = Date.UTC(2026, 0, 1);
const DEFAULT_SEED = 1;

/** The common setting of a file's cases. */
export interface CaseSetting {
  readonly checked: CheckedScenario;
  readonly shell: ScenarioShell;
  readonly edge: EdgeConfig;
  readonly signer: Signer | null;
  /** Overrides the seed of the file. */
  readonly seed: number | string | null;
  /** Overrides the nodes of the file. */
  readonly nodes?: Partial<NodesSetting>;
  /** Configurations that changes write, by the path that the file gives. */
  readonly configured?: ReadonlyMap<string, EdgeConfig>;
}

/** Backends with addresses, and those of agents; upstream scripts are possible for these. */
export function dialledBackends(config: EdgeConfig): string[] {
  const groups = new Set(tunnelGroups(config).map(([name]) => name));
  return Object.entries(config.backends).flatMap(([name, { static: dialled }]) =>
    dialled === undefined && !groups.has(name) ? [] : [name],
  );
}

/** The parts that are the same for all cases without overrides: created once. */
export interface FileSetting extends CaseSetting {
  readonly naming: Pick<ExpectationContext, 'backends' | 'policies' | 'service'>;
  readonly dialled: readonly string[];
  readonly common: ReturnType<typeof settingOf>;
  readonly upstreams: ReadonlyMap<string, UpstreamScript>;
  readonly agents: CompiledAgents;
}

/** Prepares the common setting of a file's cases. */
export function fileSetting(setting: CaseSetting, findings: Diagnostic[]): FileSetting {
  const common = settingOf(setting, findings);
  const dialled = dialledBackends(setting.edge);
  const upstreams = compileUpstreams(setting.shell.upstreams, '/upstreams', dialled, common.report);
  const agents = compileAgents(setting.shell.agents, '/agents', NO_AGENTS, setting.edge, common.report);
  return { ...setting, naming: namesOf(setting.edge), dialled, common, upstreams, agents };
}

function namesOf(config: EdgeConfig): FileSetting['naming'] {
  const policies = placedAll(config).flatMap(({ route }) => route.traffic_policy?.value ?? []);
  return { backends: Object.keys(config.backends), policies, service: config.service_name };
}

/** The setting for all requests of a file. */
export function settingOf(
  { shell, edge, signer, seed, checked, nodes: given, configured = new Map() }: CaseSetting,
  findings: Diagnostic[],
  row: CaseRow | null = null,
) {
  const report = checked.report(findings);
  const startMs = startOf(row, shell, report);
  const nodes = nodesOf(shell.nodes, given);
  const identities = identitiesOf(shell) ?? [];
  const facts = factsOf(row, shell, report);
  const request: RequestSetting = {
    defaults: shell.defaults?.request ?? {},
    host: defaultHost(edge),
    tls: tlsOf(row, shell, report),
    startMs,
    signer,
    nodes: nodes?.count ?? 1,
    report,
  };
  const timeout = shell.defaults?.upstream_timeout;
  return {
    report,
    request,
    startMs,
    facts,
    seed: seed ?? row?.config.seed ?? shell.seed ?? DEFAULT_SEED,
    headMs: timeout === undefined ? -1 : durationMs(timeout),
    /** What changes of nodes refer to. */
    among: { nodes, identities, configured, facts, report } satisfies NodesContext,
  };
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
