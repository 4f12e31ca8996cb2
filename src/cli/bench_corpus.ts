import type { BenchRequest, Corpus } from '../benchmark/corpus.ts';
import { hasErrors } from '../diagnostics/diagnostic.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { connectionOf, headOf } from '../engine/request_like.ts';
import { type CaseSetting, type Plan, compileCase } from '../simulator/compile_case.ts';
import { OK_UPSTREAM } from '../simulator/constants.ts';
import { needsSigner } from '../simulator/run_file.ts';
import type { PreparedRequest } from '../simulator/simulator.ts';
import type { BenchTarget } from './bench_target.ts';
import { FileError } from './load_config.ts';
import { findScenarioFiles } from './testing/find_files.ts';
import { loadSigner } from './testing/run_tests.ts';
import { scenarioLoader } from './testing/load_scenario.ts';

/** What a target is measured on: the requests named, or those that its routes give. Throws FileError. */
export function corpusOf(target: BenchTarget, paths: readonly string[]): Promise<Corpus> | Corpus {
  if (paths.length > 0) return corpusOfScenarios(paths);
  return target.kind === 'edge' ? generatedCorpus(target.config) : generatedCorpus(ANY_EDGE);
}

/** The requests of scenario files, those of each case and each row. Throws FileError. */
async function corpusOfScenarios(paths: readonly string[]): Promise<Corpus> {
  const load = scenarioLoader();
  const files = await findScenarioFiles(paths);
  const requests: BenchRequest[] = [];
  for (const file of files) {
    const { checked, edge } = await load(file);
    const { scenario, diagnostics } = checked;
    if (scenario === null || edge === null || hasErrors(diagnostics))
      throw new FileError(`${file} cannot be used: run edgeproof check ${file}`);
    const signer = needsSigner(scenario) ? await loadSigner() : null;
    const setting: CaseSetting = { checked, shell: scenario.shell, edge: edge.config, signer, seed: null };
    for (const row of scenario.cases) {
      const plan = compileCase(row, setting, [])?.plan;
      for (const request of plan === undefined ? [] : requestsOf(plan))
        requests.push(benchRequest(row.name, request));
    }
  }
  if (requests.length === 0) throw new FileError(`no requests were found in ${paths.join(', ')}`);
  return { requests, from: `of ${files.length === 1 ? files[0]! : `${files.length} scenario files`}` };
}

function requestsOf(plan: Plan): readonly PreparedRequest[] {
  if (plan.kind !== 'timeline') return [plan.request];
  return plan.steps.flatMap(({ request }) => (request === null ? [] : [request]));
}

function benchRequest(label: string, { head, connection }: PreparedRequest): BenchRequest {
  return { label, head, connection, upstream: OK_UPSTREAM };
}

/** For what has no routes. */
const ANY_EDGE = {
  edges: { https: { any: { hostports: ['edge.test:443'], routes: [] } } },
} as unknown as Pick<EdgeConfig, 'edges'>;
const CLIENTS = ['203.0.113.9', '198.51.100.7', '10.1.2.3', '2001:db8::7'];
const AGENTS = [
  'curl/8.11.0',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36',
];

/** Requests made from a configuration alone: each host and route, several methods, clients and user agents. */
function generatedCorpus({ edges }: Pick<EdgeConfig, 'edges'>): Corpus {
  const requests = Object.values(edges.https).flatMap(({ hostports, routes }) =>
    hostports.flatMap((hostport) => {
      const host = hostport.replace(/:\d+$/, '').replace(/^\*\./, 'any.');
      const paths = ['/', ...routes.map(({ match }) => match.slice(Math.max(0, match.indexOf('/'))))];
      return [...new Set(paths)].flatMap((path, at) =>
        ['GET', 'POST'].map((method, turn): BenchRequest => {
          const url = `https://${host}${path.startsWith('/') ? path : '/'}`;
          const clientIp = CLIENTS[(at + turn) % CLIENTS.length]!;
          const headers = { 'user-agent': AGENTS[(at + turn) % AGENTS.length]!, accept: '*/*' };
          return {
            label: `${method} ${url}`,
            head: headOf({ method, url, headers }),
            connection: connectionOf({ clientIp }, 'https', 0),
            upstream: OK_UPSTREAM,
          };
        }),
      );
    }),
  );
  return { requests, from: 'made from its routes' };
}
