import type { Command } from 'commander';
import type { EdgeOfFile, Listening } from '../edgeproof.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { developmentProvider } from './development_provider.ts';
import { type IngressOptions, type IngressSource, ingressOptions, runIngress } from './ingress.ts';
import { readPort } from './option_values.ts';
import { loadConfig } from '../project_files/load_config.ts';

/** Port of the management API with `--api`; the same as for `serve`. */
const API_PORT = 4040;

interface DevOptions extends IngressOptions {
  readonly identities?: string;
  /** True for the default port. */
  readonly api?: number | true;
}

export function register(program: Command): void {
  const command = program
    .command('dev')
    .description('Run a local ingress on an edge file, reloaded on save')
    .argument('[file]', 'edge file', 'edge.yaml')
    .option('--identities <file>', 'users who can log in at the development identity provider')
    .option(
      '--api [port]',
      'also serve the management API, with a temporary store that is initialised from the file',
      readPort,
    );
  ingressOptions(command).action(async (file: string, options: DevOptions) => {
    const load = () => loadConfig(file);
    const provider = (config: EdgeConfig) => developmentProvider(config, options.identities);
    const { api, host } = options;
    const place = { host, port: api === true ? API_PORT : Number(api) };
    const source = { file, load, adoptHosts: 'loopback', provider, about } as const;
    const makeEdge: IngressSource['makeEdge'] = async (config, edgeOptions) => {
      const { edgeWithApi } = await import('./dev_api.ts');
      return edgeWithApi(config, edgeOptions, place);
    };
    process.exitCode = await runIngress(api === undefined ? source : { ...source, makeEdge }, options);
  });
}

export function about(edge: EdgeOfFile, { url, port }: Listening): string[] {
  const edges = Object.values(edge.config.edges.https);
  const lines = edges.flatMap(({ hostports }) =>
    hostports.map((hostport) => {
      const host = hostport.replace(/:\d+$/, '');
      const isLocal = host.endsWith('localhost');
      return `➜  ${hostport.padEnd(24)} ${isLocal ? `http://${host}:${port}/` : `curl -H 'Host: ${host}' ${url}/`}`;
    }),
  );
  const routes = edges.reduce((sum, each) => sum + each.routes.length, 0);
  return [...lines, `${routes} ${routes === 1 ? 'route' : 'routes'}`];
}
