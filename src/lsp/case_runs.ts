import { relative } from 'node:path';
import { type CoveredEdge, coverageOf } from '../coverage/coverage.ts';
import { pointLocator } from '../coverage/places.ts';
import { isOpen } from '../coverage/point.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { renderDiagnostics } from '../diagnostics/render.ts';
import { type RecordedEdge, coverageRecords } from '../project_files/coverage_records.ts';
import { caseTrees, explainCaseOf, routeOf } from '../project_files/explained_case.ts';
import { type LoadedScenario, scenarioLoader } from '../project_files/load_scenario.ts';
import { offeredCases } from '../project_files/offered_cases.ts';
import { testedBy } from '../project_files/offered_scenario.ts';
import { runScenarios } from '../project_files/run_scenarios.ts';
import type { Sources } from '../project_files/sources.ts';
import { loadReporter } from '../simulator/report/load.ts';
import { scenarioText } from '../simulator/search/emit.ts';
import type { Answers, CheckSettings } from './messages.ts';

/** Runs the cases of scenario files as an editor has them. */
export class CaseRuns {
  readonly #sources: Sources;

  constructor(sources: Sources) {
    this.#sources = sources;
  }

  /** Runs one case: what `edgeproof test` prints about it. */
  async run(name: string, index: number, { serviceName }: CheckSettings): Promise<Answers['run']> {
    const { ran } = await loadReporter('pretty', { color: false });
    let text = '';
    const [result] = await runScenarios([name], {
      ...RUN,
      serviceName: serviceName ?? undefined,
      sources: this.#sources,
      lines: true,
      selects: ({ pointer }) => pointer === pointerOf(index),
      onResult: (each) => void (text += ran!(each)),
    });
    const { cases, diagnostics } = result!;
    if (cases.length === 0) text += findingsText(diagnostics);
    return { passed: cases.length > 0 && cases.every(({ status }) => status !== 'failed'), text };
  }

  /** What `edgeproof explain --case` prints. */
  async explain(name: string, index: number, settings: CheckSettings): Promise<Answers['explain']> {
    const found: Diagnostic[] = [];
    const explained = await this.#explained(name, index, settings, found);
    return explained === null ? findingsText(found) : caseTrees(explained, { isFull: false, color: false });
  }

  /** The place of the route that a case takes; null if it takes none, or cannot be run. */
  async route(name: string, index: number, settings: CheckSettings): Promise<Answers['route']> {
    const explained = await this.#explained(name, index, settings, []);
    const place = explained === null ? null : routeOf(explained);
    return place === null ? null : { file: place.file, line: place.line - 1, character: place.column - 1 };
  }

  /** How often the rules and routes of a file are reached by the cases of scenario files. */
  async coverage(
    name: string,
    scenarios: readonly string[],
    settings: CheckSettings,
  ): Promise<Answers['coverage']> {
    const recorded = await this.#recorded(scenarios, settings);
    return recorded.flatMap((each) => {
      const { points } = coverageOf(each.covered);
      return this.#placed(each, name).flatMap(({ id, line }) => {
        const point = points.find((other) => other.id === id)!;
        const { message, hits, uncovered } = point;
        return [{ line, message, hits, why: uncovered?.message ?? null, isOpen: isOpen(point) }];
      });
    });
  }

  /** A case, as lines of a list, that reaches the rule or route on a line; null if none is found. */
  async missing(
    name: string,
    { line, scenarios }: { readonly line: number; readonly scenarios: readonly string[] },
    settings: CheckSettings,
  ): Promise<Answers['missing']> {
    for (const each of await this.#recorded(scenarios, settings)) {
      const own = this.#placed(each, name).filter((point) => point.line === line);
      const ids = new Set(own.map(({ id }) => id));
      const points = each.covered.points.filter(({ id }) => ids.has(id));
      if (points.length === 0 || !coverageOf({ ...each.covered, points }).points.some(isOpen)) continue;
      const covered: CoveredEdge = { ...each.covered, points };
      const emitted = await offeredCases({ ...each, covered }, false);
      const [first] = emitted.cases;
      // Users of logins would have to be joined with those of the file.
      const isAlone = emitted.identities === null || Object.keys(emitted.identities).length === 0;
      if (first === undefined || !isAlone) continue;
      const text = scenarioText({ cases: [first], identities: null }, testedBy(each.first, null), 'yaml');
      return {
        scenario: each.first.checked.name,
        text: text.slice(text.indexOf('\ncases:\n') + '\ncases:\n'.length),
      };
    }
    return null;
  }

  async #explained(name: string, index: number, { serviceName }: CheckSettings, found: Diagnostic[]) {
    const load = scenarioLoader({ serviceName: serviceName ?? undefined, sources: this.#sources });
    const loaded: LoadedScenario = await load(name);
    found.push(...loaded.checked.diagnostics, ...loaded.findings);
    const row = loaded.checked.scenario?.cases.find(({ pointer }) => pointer === pointerOf(index));
    return row === undefined
      ? null
      : explainCaseOf(loaded, row.name, { secrets: { get: () => undefined } }, found);
  }

  async #recorded(
    scenarios: readonly string[],
    { serviceName }: CheckSettings,
  ): Promise<readonly RecordedEdge[]> {
    const book = coverageRecords();
    await runScenarios(scenarios, {
      ...RUN,
      serviceName: serviceName ?? undefined,
      sources: this.#sources,
      lines: false,
      selects: () => true,
      onResult: () => undefined,
      on: book.on,
    });
    return book.edges();
  }

  /** The rules and routes that are in a file, with their lines from 0. */
  #placed({ covered, first }: RecordedEdge, name: string): { readonly id: string; readonly line: number }[] {
    if (first.source === null) return [];
    const locate = pointLocator(covered.edge.config, first.source);
    return covered.points.flatMap((point) => {
      if (point.kind !== 'rules' && point.kind !== 'routes') return [];
      const place = locate({ pointer: point.pointer, span: null });
      if (place === null || relative(place.file, name) !== '') return [];
      return [{ id: point.id, line: place.line - 1 }];
    });
  }
}

function pointerOf(index: number): string {
  return `/cases/${index}`;
}

const RUN = { seed: null, repeat: 1, bail: false } as const;

function findingsText(found: readonly Diagnostic[]): string {
  return renderDiagnostics(found, { color: false });
}
