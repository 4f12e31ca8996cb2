import type { Command } from 'commander';
import type { EdgeOfFile, Listening } from '../edgeproof.ts';
import { type IngressOptions, ingressOptions, runIngress } from './ingress.ts';
import { loadConfig } from './load_config.ts';

export function register(program: Command): void {
  ingressOptions(program.command('dev'))
    .description('Run a local ingress on an edge file; it is reloaded when it is saved')
    .argument('[file]', 'edge file', 'edge.yaml')
    .action(async (file: string, options: IngressOptions) => {
      const load = () => loadConfig(file);
      process.exitCode = await runIngress({ file, load, adoptHosts: 'loopback', about }, options);
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
