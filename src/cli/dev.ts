import { existsSync } from 'node:fs';
import { InvalidArgumentError, type Command } from 'commander';
import type { EdgeOfFile, Listening } from '../edgeproof.ts';
import { isInternalHost } from '../edge/document/internal_hosts.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { parseAuthority } from '../http/host.ts';
import {
  type BackendHere,
  type DevelopmentOptions,
  developmentEdge,
  replacementLines,
} from './development_edge.ts';
import { developmentProvider } from './development_provider.ts';
import { type IngressSource, runIngress } from './ingress.ts';
import { type IngressOptions, ingressOptions, recordOption } from './ingress_options.ts';
import { FileError } from '../project_files/load_config.ts';
import { agentsOption } from './agent_options.ts';
import { readPort } from './option_values.ts';
import { nameHere } from './stream_options.ts';
import { counted } from '../diagnostics/message_text.ts';
import { namedOrUsual, usualText } from './usual_files.ts';

/** Port of the management API with `--api`; the same as for `serve`. */
const API_PORT = 4040;

interface DevOptions extends IngressOptions, DevelopmentOptions {
  /** True for the default port. */
  readonly api?: number | true;
}

export function register(command: Command): void {
  command
    .argument('[file]', `edge file${usualText('edge')}`)
    .option(
      '--identities <file>',
      'users who can log in at the development identity provider, which takes over all logins',
    )
    .option(
      '--backend <name=address>',
      'use an address of this machine for a backend, such as app=3000 or app=https://127.0.0.1:8443; can be repeated',
      addBackend,
      new Map(),
    )
    .option(
      '--api [port]',
      `also serve the management API, with a temporary store that is initialised from the file; default port ${API_PORT}`,
      readPort,
    );
  agentsOption(command).option(
    '--authtoken <token>',
    'the authtoken that agents must present; default: any token, or no token, is accepted',
  );
  recordOption(ingressOptions(command)).action(async (given: string | undefined, options: DevOptions) => {
    const file = namedOrUsual(given, 'edge');
    if (/^(?:[\w.-]+:)?\d+$/.test(file) && !existsSync(file))
      throw new FileError(`'${file}' is not an edge file; write 'edgeproof http ${file}' to run without one`);
    const development = developmentEdge(file, options);
    const provider = (config: EdgeConfig) => developmentProvider(config, options.identities);
    const { api, host, strictPort = false } = options;
    const place = { host, port: api === true ? API_PORT : Number(api), strictPort };
    const { load } = development;
    const replaced = () => replacementLines(development.replaced());
    const { identities, backend, serviceName } = options;
    const named = serviceName === undefined ? {} : { serviceName };
    const drafts = { development: { file, options: { identities, backend, ...named } } };
    const own = { verb: 'dev', file, load, drafts, adoptHosts: 'loopback' } as const;
    const source = { ...own, provider, about, replaced };
    const makeEdge: IngressSource['makeEdge'] = async (config, edgeOptions) => {
      const { edgeWithApi } = await import('./dev_api.ts');
      return edgeWithApi(config, edgeOptions, { ...place, agents: options.agents !== undefined });
    };
    process.exitCode = await runIngress(api === undefined ? source : { ...source, makeEdge }, options);
  });
}

function addBackend(
  text: string,
  before: ReadonlyMap<string, BackendHere>,
): ReadonlyMap<string, BackendHere> {
  const [, name, scheme = 'http', place = ''] = /^([^=]+)=(?:(https?):\/\/)?([^/]+)\/?$/.exec(text) ?? [];
  const address = /^\d+$/.test(place) ? `127.0.0.1:${place}` : place;
  if (name === undefined || parseAuthority(address)?.port === undefined)
    throw new InvalidArgumentError(
      'write a backend and its address, such as app=3000 or app=https://127.0.0.1:8443.',
    );
  return new Map([...before, [name, { address, tls: scheme === 'https' }]]);
}

export function about(edge: EdgeOfFile, { url, port }: Listening): string[] {
  const edges = Object.values(edge.config.edges.https);
  const lines = edges.flatMap(({ hostports }) =>
    hostports.flatMap((hostport) => {
      const host = hostport.replace(/:\d+$/, '');
      if (isInternalHost(host)) return [];
      const here = nameHere(host);
      const isNamed = here.endsWith('localhost');
      return `➜  ${hostport.padEnd(24)} ${isNamed ? `http://${here}:${port}/` : `curl -H 'Host: ${host}' ${url}/`}`;
    }),
  );
  const routes = edges.reduce((sum, each) => sum + each.routes.length, 0);
  return [...lines, counted(routes, 'route')];
}
