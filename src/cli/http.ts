import type { Command } from 'commander';
import { hasErrors } from '../diagnostics/diagnostic.ts';
import type { Checked } from '../edge/document/check.ts';
import { checkWholeEdge } from '../edge/semantic_checks.ts';
import { locateInPolicyFile } from '../edge/policy_places.ts';
import { brandingOf } from '../engine/branding.ts';
import { parseAuthority } from '../http/host.ts';
import { checkPolicy } from '../policy/document/check.ts';
import { EXIT } from './exit_codes.ts';
import { reportKind } from '../project_files/file_kind.ts';
import { runIngress } from './ingress.ts';
import { type IngressOptions, ingressOptions, recordOption } from './ingress_options.ts';
import { readText } from '../project_files/load_config.ts';

interface Options extends IngressOptions {
  readonly policy?: string;
}

export function register(command: Command): void {
  // Users know `-p policy.yml`, so the port has only its long name here.
  command
    .argument('<upstream>', 'port or host:port of the application')
    .option('-p, --policy <file>', 'traffic policy in YAML or JSON; use --port for the listening port');
  recordOption(ingressOptions(command, '--port <port>')).action(
    async (upstream: string, options: Options) => {
      process.exitCode = await http(upstream, options);
    },
  );
}

async function http(upstream: string, options: Options): Promise<number> {
  const address = /^\d+$/.test(upstream) ? `127.0.0.1:${upstream}` : upstream;
  if (parseAuthority(address)?.port === undefined) {
    process.stderr.write(`'${upstream}' is neither a port nor host:port\n`);
    return EXIT.usage;
  }
  const { policy } = options;
  const source = {
    file: policy ?? null,
    load: () => edgeAround(address, policy),
    adoptHosts: 'any',
    about: () => [`➜  every host  → http://${address}`],
  } as const;
  return runIngress(source, options);
}

/** Pointer to the policy in the edge that is generated around it. */
const POLICY_POINTER = '/edges/https/http/routes/0/traffic_policy/value';

/** An edge with one route for every host; findings about the policy are located in the policy's own file. */
async function edgeAround(address: string, policy: string | undefined): Promise<Checked> {
  const text = policy === undefined ? undefined : readText(policy);
  const edge = checkWholeEdge({
    value: {
      backends: { upstream: { static: { address } } },
      edges: {
        https: {
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
    internalHosts: [],
    internalAddresses: [],
  }).diagnostics;
  const diagnostics = await reportKind(found, text, 'policy');
  const locate = locateInPolicyFile(source, POLICY_POINTER);
  return { ...edge, locate, diagnostics, config: hasErrors(diagnostics) ? null : edge.config };
}
