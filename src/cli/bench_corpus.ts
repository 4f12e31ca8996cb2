import { createReadStream } from 'node:fs';
import { statOf } from './named_files.ts';
import { createInterface } from 'node:readline';
import { type BenchRequest, type Corpus, START_MS } from '../benchmark/decision.ts';
import { hasErrors } from '../diagnostics/diagnostic.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { connectionOf, headOf } from '../engine/request_like.ts';
import { logReader } from '../replay/read_log.ts';
import { type Plan, compileCase } from '../simulator/compile_case.ts';
import { type CaseSetting } from '../simulator/case_setting.ts';
import { OK_UPSTREAM } from '../engine/drivers/constant.ts';
import { coveredEdge } from '../coverage/coverage.ts';
import { findCases } from '../simulator/search/cover_points.ts';
import { preparedDraft } from '../simulator/search/draft.ts';
import type { PreparedRequest } from '../simulator/simulator.ts';
import { edgeFixture } from '../coverage/edge_fixture.ts';
import type { BenchTarget } from './bench_target.ts';
import { FileError, type LoadOptions } from '../project_files/load_config.ts';
import { findScenarioFiles } from './testing/find_files.ts';
import { scenarioLoader } from '../project_files/load_scenario.ts';
import { signerFor } from '../project_files/run_scenarios.ts';
import { fileFailure } from '../diagnostics/system_failure.ts';

/**
 * The requests that a target is measured with: those named, or some that are generated from it. Throws
 * FileError.
 */
export async function corpusOf(
  target: BenchTarget,
  paths: readonly string[],
  options: LoadOptions,
): Promise<Corpus> {
  if (paths.length === 0) return target.kind === 'edge' ? coveringCorpus(target.config) : ANY_REQUESTS;
  const requests: BenchRequest[] = [];
  for (const path of paths) requests.push(...(await requestsIn(path, options)));
  if (requests.length === 0) throw new FileError(`no requests were found in ${paths.join(', ')}`);
  return { requests, from: `of ${paths.join(', ')}` };
}

const SCENARIO = /\.(?:ya?ml|json|[cm]?[jt]s)$/;

/** The requests of scenario files or of a log: a recording, events, HAR or curl lines. */
function requestsIn(path: string, options: LoadOptions): Promise<readonly BenchRequest[]> {
  const isLog = !SCENARIO.test(path) && statOf(path)?.isFile() === true;
  return isLog ? requestsOfLog(path) : requestsOfScenarios(path, options);
}

async function requestsOfLog(path: string): Promise<readonly BenchRequest[]> {
  const requests: BenchRequest[] = [];
  const reader = logReader({
    record: ({ line, head, connection, upstream }) =>
      void requests.push({ label: `${path}:${line}`, head, connection, upstream: upstream ?? OK_UPSTREAM }),
    problem: (line, message) => {
      throw new FileError(`${path}:${line}: ${message}`);
    },
  });
  let number = 0;
  try {
    for await (const line of createInterface({ input: createReadStream(path) })) reader.line(line, ++number);
  } catch (error) {
    if (error instanceof FileError) throw error;
    throw new FileError(fileFailure('read', path, error));
  }
  reader.end();
  return requests;
}

async function requestsOfScenarios(path: string, options: LoadOptions): Promise<readonly BenchRequest[]> {
  const load = scenarioLoader(options);
  const requests: BenchRequest[] = [];
  for (const file of await findScenarioFiles([path])) {
    const { checked, edge } = await load(file);
    const { scenario, diagnostics } = checked;
    if (scenario === null || edge === null || hasErrors(diagnostics))
      throw new FileError(`${file} cannot be used: run edgeproof check ${file}`);
    const signer = await signerFor(scenario);
    const setting: CaseSetting = { checked, shell: scenario.shell, edge: edge.config, signer, seed: null };
    for (const row of scenario.cases) {
      const plan = compileCase(row, setting, [])?.plan;
      for (const request of plan === undefined ? [] : requestsOf(plan))
        requests.push(benchRequest(`${file}: ${row.name}`, request));
    }
  }
  return requests;
}

function requestsOf(plan: Plan): readonly PreparedRequest[] {
  switch (plan.kind) {
    case 'timeline':
      return plan.steps.flatMap(({ request }) => (request === null ? [] : [request]));
    case 'one':
    case 'sample':
      return [plan.request];
    case 'connect':
      // Connections and logins are not requests.
      return [];
  }
}

function benchRequest(label: string, { head, connection }: PreparedRequest): BenchRequest {
  return { label, head, connection: { ...connection, startMs: START_MS }, upstream: OK_UPSTREAM };
}

/** Requests that together cover the configuration: those that `cover` suggests. */
function coveringCorpus(config: EdgeConfig): Corpus {
  const covered = coveredEdge(edgeFixture(config, () => null));
  const requests = findCases(covered, []).flatMap(({ draft, points }) => {
    const prepared = preparedDraft(draft);
    return prepared === null ? [] : [benchRequest(points[0]?.message ?? draft.path, prepared)];
  });
  if (requests.length === 0) return ANY_REQUESTS;
  return { requests, from: 'generated to cover it' };
}

/** Requests for a target that does not name any. */
const ANY_REQUESTS: Corpus = {
  from: 'generic',
  requests: ['GET', 'POST'].flatMap((method) =>
    ['/', '/api/items/17', '/admin?debug=1'].map((path) => ({
      label: `${method} ${path}`,
      head: headOf({
        method,
        url: `https://edge.test${path}`,
        headers: { 'user-agent': 'curl/8.11.0', accept: '*/*' },
      }),
      connection: connectionOf({}, 'https', START_MS),
      upstream: OK_UPSTREAM,
    })),
  ),
};
