import type { Command } from 'commander';
import type { EdgeOfFile, Listening } from '../edgeproof.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { developmentProvider } from './development_provider.ts';
import { type IngressOptions, ingressOptions, runIngress } from './ingress.ts';
import { loadConfig } from './load_config.ts';

export function register(program: Command): void {
  ingressOptions(program.command('dev'))
    .description('Run a local ingress on an edge file; it is reloaded when it is saved')
    .argument('[file]', 'edge file', 'edge.yaml')
    .option('--identities <file>', 'who can log in at the development identity provider')
    .action(async (file: string, options: IngressOptions & { readonly identities?: string }) => {
      const load = () => loadConfig(file);
      const provider = (config: EdgeConfig) => developmentProvider(config, options.identities);
      process.exitCode = await runIngress({ file, load, adoptHosts: 'loopback', provider, about }, options);
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
  return [...lines, `${routes} routes`];
}
