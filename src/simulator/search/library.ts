import { hasErrors } from '../../diagnostics/diagnostic.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { plainDocument } from '../../document/document.ts';
import { reportWith } from '../../document/report.ts';
import type { EdgeConfig } from '../../edge/document/schema.ts';
import { compileCase, DEFAULT_START_MS, defaultHost } from '../compile_case.ts';
import { type Coverage, coverageOf, coveredEdge } from '../covering/coverage.ts';
import { type Thresholds, type Missed, missedThresholds } from '../covering/thresholds.ts';
import { checkScenario } from '../document/check.ts';
import { prepareRequest } from '../document/requests.ts';
import type { RequestConfig } from '../document/schema.ts';
import { runFile } from '../run_file.ts';
import { ONCE } from '../run_once.ts';
import type { CaseResult } from '../result.ts';
import { edgeUnderTest } from '../under_test.ts';
import { webhookSigner } from '../webhook_signer.ts';
import { findCases } from './cover_points.ts';
import { type Draft, draftOf, draftsOfCase } from './draft.ts';
import { type EmittedCases, emittedCases } from './emit.ts';
import { targetOf } from './target.ts';
import { type WhyNot, whyNot } from './why_not.ts';
import { writtenRequest } from './write_case.ts';

/** What the cases of a scenario cover of an edge. */
export interface CoveredScenario extends Coverage {
  readonly cases: readonly CaseResult[];
  /** Thresholds that were not reached. */
  readonly missed: (wanted: Thresholds) => readonly Missed[];
  /** Looks for cases that cover what is not covered; they were run, and pass. */
  readonly emit: () => EmittedCases;
}

/**
 * Runs the cases of a scenario (the object that a scenario file is, its `edge` and `policy` ignored) on an edge, and
 * says what they cover. Throws a TypeError for a scenario with errors.
 */
export function coverScenario(edge: { readonly config: EdgeConfig }, scenario: object): CoveredScenario {
  const { config } = edge;
  const checked = checkScenario({ value: { ...scenario, edge: 'edge' }, name: '<scenario>' });
  const covered = coveredEdge(edgeUnderTest(config, () => null));
  const result = runFile(checked, covered.edge, { ...ONCE, signer: webhookSigner });
  orThrow(result.diagnostics);
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
    emit: () =>
      emittedCases(covered, findCases(covered, drafts(), { signer: webhookSigner }), { edge: 'edge' }),
  };
}

/** What would have to differ in a request, and the request with it. */
export type WhyNotFound =
  | Exclude<WhyNot, { readonly verdict: 'changes' }>
  | {
      readonly verdict: 'changes';
      readonly changes: readonly string[];
      /** As a scenario writes it. */
      readonly request: Readonly<Record<string, unknown>>;
      readonly draft: Draft;
    };

/** Who can log in, by name, as a scenario file has it. */
export interface WhyNotSetting {
  readonly identities?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/**
 * The smallest change of a request after which a rule or a module decides, a route is taken, a reason code comes
 * about, an action runs or a backend is tried. Throws a TypeError for a name that the edge has not.
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
    tls: null,
    startMs: DEFAULT_START_MS,
    signer: webhookSigner,
    report: reportWith<string>(findings, plainDocument(undefined), () => 'error'),
  });
  orThrow(findings);
  const asker = prepared?.as;
  if (asker !== undefined && !Object.hasOwn(identities, asker))
    throw new TypeError(`no identity is called '${asker}'`);
  const as = asker === undefined ? null : { name: asker, facts: identities[asker]! };
  const draft = prepared === null ? null : draftOf(prepared, { as }, config);
  if (draft === null) throw new TypeError('no edge takes this request: it is refused before any rule');
  const covered = coveredEdge(edgeUnderTest(config, () => null));
  const target = targetOf(name, covered);
  if ('problem' in target) throw new TypeError(target.problem);
  const found = whyNot(covered, draft, target, { signer: webhookSigner });
  if (found.verdict !== 'changes') return found;
  const { verdict, changes } = found;
  return { verdict, changes, request: writtenRequest(found.draft), draft: found.draft };
}

function orThrow(findings: readonly Diagnostic[]): void {
  if (hasErrors(findings)) throw new TypeError(findings.map(({ says }) => says).join('; '));
}
