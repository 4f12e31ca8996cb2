import { type Command, InvalidArgumentError } from 'commander';
import { readDocument } from '../config_file/read.ts';
import { hasErrors } from '../diagnostics/diagnostic.ts';
import type { Checked } from '../edge/document/check.ts';
import { renderDiagnostics } from '../diagnostics/render.ts';
import { checkWholeEdge } from '../edge/semantic_checks.ts';
import { locateInPolicyFile } from '../edge/policy_places.ts';
import { brandingOf } from '../engine/branding.ts';
import { isInternalHost } from '../edge/document/internal_hosts.ts';
import { parseAuthority } from '../http/host.ts';
import { checkPolicy } from '../policy/document/check.ts';
import { EXIT } from './exit_codes.ts';
import { reportKind } from '../project_files/file_kind.ts';
import { runIngress } from './ingress.ts';
import { type IngressOptions, ingressOptions, recordOption } from './ingress_options.ts';
import { FileError, readText } from '../project_files/load_config.ts';

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

async function http(upstream: string, options: Options): Promise<number> {
  const address = addressOf(upstream);
  if (address === null) {
    process.stderr.write(`'${upstream}' is neither a port nor host:port\n`);
    return EXIT.usage;
  }
  const { policy, internal } = options;
  const source = {
    file: policy ?? null,
    load: () => edgeAround(address, options),
    adoptHosts: 'any',
    about: () => [
      `➜  every host  → http://${address}`,
      ...Array.from(internal, ([host, target]) => `➜  ${host}  → http://${target}`),
    ],
  } as const;
  return runIngress(source, options);
}

/** Pointer to the policy in the edge that is generated around it. */
const POLICY_POINTER = '/edges/https/http/routes/0/traffic_policy/value';

/** An edge with one route for every host; findings about the policy are located in the policy's own file. */
async function edgeAround(address: string, { policy, facts, internal }: Options): Promise<Checked> {
  const text = policy === undefined ? undefined : readText(policy);
  const targets = Array.from(internal, ([host, target], at) => ({ id: `internal_${at + 1}`, host, target }));
  const edge = checkWholeEdge({
    value: {
      ...(facts !== undefined && { facts: factsIn(facts) }),
      backends: {
        upstream: { static: { address } },
        ...Object.fromEntries(targets.map(({ id, target }) => [id, { static: { address: target } }])),
      },
      edges: {
        https: {
          ...Object.fromEntries(
            targets.map(({ id, host }) => [
              id,
              {
                hostports: [`${host}:443`],
                routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: id } }],
              },
            ]),
          ),
          http: {
            hostports: ['localhost:443'],
            routes: [
              {
                match_type: 'path_prefix',
                match: '/',
                backend: { backend_id: 'upstream' },
                ...(text === undefined ? {} : { traffic_policy: { value: text } }),
              },
            ],
          },
        },
      },
    },
  });
  if (policy === undefined || text === undefined) return edge;
  const branding = brandingOf('service');
  const source = { name: policy, text };
  const found = checkPolicy(source, {
    branding,
    attachedTo: 'http',
    internalHosts: targets.map(({ host }) => host),
    internalAddresses: [],
  }).diagnostics;
  const others = edge.diagnostics
    .filter(({ pointer }) => !pointer.startsWith(POLICY_POINTER))
    .map((each) => Object.assign({}, each, facts !== undefined && { source: { name: facts, text: '' } }));
  const diagnostics = [...others, ...(await reportKind(found, text, 'policy'))];
  const locate = locateInPolicyFile(source, POLICY_POINTER);
  return { ...edge, locate, diagnostics, config: hasErrors(diagnostics) ? null : edge.config };
}

/** The facts of a file: as they are, or in an edge file or a file of a request. Throws FileError. */
function factsIn(path: string): unknown {
  const kind = {
    called: 'a file of facts',
    keys: '`facts`',
    smallest: 'a minimal file has `facts`',
    prefix: 'edge',
  };
  const { document, diagnostics } = readDocument({ name: path, text: readText(path) }, kind);
  if (document === null) throw new FileError(renderDiagnostics(diagnostics, { color: false }).trimEnd());
  const { facts } = document.value as { readonly facts?: unknown };
  if (facts === undefined)
    throw new FileError(`${path} has no \`facts\`: write them below this key, as in an edge file`);
  return facts;
}
