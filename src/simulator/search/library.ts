import { type Diagnostic, hasErrors } from '../../diagnostics/diagnostic.ts';
import { plainDocument } from '../../config_file/document.ts';
import { reportWith } from '../../config_file/report.ts';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import { compileCase } from '../compile_case.ts';
import { DEFAULT_START_MS, defaultHost } from '../case_setting.ts';
import { type Coverage, coverageOf, coveredEdge, withParts } from '../../coverage/coverage.ts';
import { type Thresholds, type Missed, missedThresholds } from '../../coverage/thresholds.ts';
import { checkScenario } from '../document/check.ts';
import { prepareRequest } from '../document/requests.ts';
import type { RequestConfig } from '../document/schema.ts';
import { runFile, ONCE } from '../run_file.ts';
import type { CaseResult } from '../result.ts';
import { edgeFixture } from '../../coverage/edge_fixture.ts';
import { webhookSigner } from '../webhook_signer.ts';
import { boundParts, statedAgents } from './bound_parts.ts';
import { findCases } from './cover_points.ts';
import { type Draft, draftOf, draftsOfCase } from './draft.ts';
import { type EmittedCases, emittedCases } from './emit.ts';
import { noticingCases } from './noticing_cases.ts';
import { withProofs } from './exact.ts';
import { targetOf } from './target.ts';
import { type WhyNot, whyNot } from './why_not.ts';
import { writtenRequest } from './write_case.ts';

/** The coverage of an edge by the cases of a scenario. */
export interface CoveredScenario extends Coverage {
  readonly cases: readonly CaseResult[];
  /** Missed thresholds. */
  readonly missed: (wanted: Thresholds) => readonly Missed[];
  /** Searches for cases that cover what is uncovered; they were run, and pass. */
  readonly emit: () => EmittedCases;
}

/**
 * Runs the cases of a scenario (as an object; its `edge` and `policy` are ignored) on an edge, and returns
 * their coverage. Throws a TypeError for a scenario with errors.
 */
export function coverScenario(edge: { readonly config: EdgeConfig }, scenario: object): CoveredScenario {
  const { config } = edge;
  const checked = checkScenario({ value: { ...scenario, edge: 'edge' }, name: '<scenario>' });
  const recorded = coveredEdge(edgeFixture(config, () => null));
  const result = runFile(checked, recorded.edge, { ...ONCE, signer: webhookSigner });
  orThrow(result.diagnostics);
  const parts = boundParts(config, statedAgents(checked.scenario === null ? [] : [checked.scenario]));
  const covered = withProofs(withParts(recorded, parts));
  const coverage = coverageOf(covered);
  const drafts = (): Draft[] => {
    const { shell, cases } = checked.scenario!;
    const setting = { checked, shell, edge: config, signer: webhookSigner, seed: null };
    return cases.flatMap((row) => {
      const compiled = compileCase(row, setting, []);
      return compiled === null ? [] : draftsOfCase(compiled, config);
    });
  };
  return {
    ...coverage,
    cases: result.cases,
    missed: (wanted) => missedThresholds(coverage, wanted),
    emit: () => {
      const begin = drafts();
      const found = findCases(covered, begin, { signer: webhookSigner });
      const more = noticingCases(covered, found, begin, { signer: webhookSigner });
      return emittedCases(covered, [...found, ...more], { edge: 'edge' });
    },
  };
}

/** The required changes of a request, and the changed request. */
export type WhyNotFound =
  | Exclude<WhyNot, { readonly verdict: 'changes' }>
  | {
      readonly verdict: 'changes';
      readonly changes: readonly string[];
      /** Whether it is proved that no request with fewer changed fields will do. */
      readonly isFewest: boolean;
      /** As in a scenario. */
      readonly request: Readonly<Record<string, unknown>>;
      readonly draft: Draft;
    };

/** Users who can log in, by name, as in a scenario file. */
export interface WhyNotSetting {
  readonly identities?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/**
 * The smallest change of a request after which a rule or a module decides, a route is taken, a reason code
 * occurs, an action runs or a backend is tried. Throws a TypeError for a name that the edge does not have.
 */
export function explainWhyNot(
  edge: { readonly config: EdgeConfig },
  request: string | RequestConfig,
  name: string,
  { identities = {} }: WhyNotSetting = {},
): WhyNotFound {
  const { config } = edge;
  const findings: Diagnostic[] = [];
  const prepared = prepareRequest(request, '', {
    defaults: {},
    host: defaultHost(config),
    tls: {},
    startMs: DEFAULT_START_MS,
    signer: webhookSigner,
    report: reportWith<string>(findings, plainDocument(undefined), () => 'error'),
  });
  orThrow(findings);
  const visitor = prepared?.as;
  if (visitor !== undefined && !Object.hasOwn(identities, visitor))
    throw new TypeError(`unknown identity '${visitor}'`);
  const as = visitor === undefined ? null : { name: visitor, facts: identities[visitor]! };
  const draft = prepared === null ? null : draftOf(prepared, { as }, config);
  if (draft === null) throw new TypeError('the request is refused before any rule, so no edge takes it');
  const covered = withProofs(coveredEdge(edgeFixture(config, () => null)));
  const target = targetOf(name, covered);
  if ('problem' in target) throw new TypeError(target.problem);
  const found = whyNot(covered, draft, target, { signer: webhookSigner });
  if (found.verdict !== 'changes') return found;
  const { verdict, changes, isFewest } = found;
  return { verdict, changes, isFewest, request: writtenRequest(found.draft), draft: found.draft };
}

function orThrow(findings: readonly Diagnostic[]): void {
  if (hasErrors(findings)) throw new TypeError(findings.map(({ message }) => message).join('; '));
}
