import { type Command, InvalidArgumentError } from 'commander';
import { isInternalHost } from '../edge/document/internal_hosts.ts';
import { parseAuthority } from '../http/host.ts';
import { edgeAround } from './edge_around.ts';
import { EXIT } from './exit_codes.ts';
import { runIngress } from './ingress.ts';
import { type IngressOptions, ingressOptions, recordOption } from './ingress_options.ts';
import { stderr } from './output.ts';
import { isDocumentName } from '../config_file/document.ts';

interface Options extends IngressOptions {
  readonly policy?: string;
  readonly facts?: string;
  /** Addresses of internal endpoints by host. */
  readonly internal: ReadonlyMap<string, string>;
}

export function register(command: Command): void {
  command
    .argument('<upstream>', 'port or host:port of the application')
    .option('--policy <file>', 'traffic policy in YAML or JSON')
    .option('--facts <file>', 'facts about addresses, as `facts` of an edge file')
    .option(
      '--internal <name=address>',
      'target of `forward-internal`, such as api.internal=3001 or api.internal=10.0.0.5:80; can be repeated',
      addInternal,
      new Map<string, string>(),
    );
  recordOption(ingressOptions(command)).action(async (upstream: string, options: Options) => {
    process.exitCode = await http(upstream, options);
  });
}

function addInternal(text: string, before: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const [, name = '', given = ''] = /^(?:https?:\/\/)?([^=]+)=(.+)$/.exec(text) ?? [];
  const host = name.toLowerCase();
  const address = addressOf(given);
  if (!isInternalHost(host) || parseAuthority(host) === null || address === null)
    throw new InvalidArgumentError(
      'write a host that ends in .internal, and where it is: api.internal=3001.',
    );
  return new Map([...before, [host, address]]);
}

/** A port of this machine or `host:port` as an address; null for anything else. */
function addressOf(text: string): string | null {
  const address = /^\d+$/.test(text) ? `127.0.0.1:${text}` : text;
  return parseAuthority(address)?.port === undefined ? null : address;
}

/** What to write instead of this upstream. */
function upstreamMeant(text: string): string {
  if (isDocumentName(text)) return `'edgeproof dev ${text}' serves an edge file`;
  const [, scheme = 'http', host = text] = /^(https?):\/\/([^/]+)/.exec(text) ?? [];
  if (/^\d+$/.test(text)) return 'a port is from 1 to 65535';
  const withPort = addressOf(host) ?? addressOf(`${host}:${scheme === 'https' ? 443 : 80}`);
  return `write ${withPort === null ? '3000 or app.test:3000' : withPort}`;
}

async function http(upstream: string, options: Options): Promise<number> {
  const address = addressOf(upstream);
  if (address === null) {
    stderr.write(`'${upstream}' is neither a port nor host:port; ${upstreamMeant(upstream)}\n`);
    return EXIT.usage;
  }
  const { policy, internal, facts, serviceName } = options;
  const around = { address, policy, facts, internal, serviceName };
  const source = {
    verb: 'http',
    file: policy ?? null,
    load: () => edgeAround(around),
    drafts: { edgeAround: around },
    adoptHosts: 'any',
    about: () => [
      `➜  every host  → http://${address}`,
      ...Array.from(internal, ([host, target]) => `➜  ${host}  → http://${target}`),
    ],
  } as const;
  return runIngress(source, options);
}
