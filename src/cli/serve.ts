import { DRAIN_MS } from '../io/listener_limits.ts';
import { createSecureContext } from 'node:tls';
import { basename, resolve as absolute } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { listenForApi, movedLine } from './api_port.ts';
import type { ApiListening } from '../control/api/listen.ts';
import type { Listening } from '../edgeproof.ts';
import { openGeoipDatabases } from './geoip_databases.ts';
import { cloudFromEnvironment } from './cloud_environment.ts';
import { EXIT } from './exit_codes.ts';
import {
  type StreamVerbOptions,
  UNPRIVILEGED,
  aboutStreams,
  streamListening,
  streamOptions,
  readPorts,
} from './stream_options.ts';
import { FileError, readText } from '../project_files/load_config.ts';
import { type Management, openManagement } from '../control/management.ts';
import { ignoreClosedOutput } from './shutdown.ts';
import { limitHeap } from './heap_limit.ts';
import { type AgentVerbOptions, aboutAgents, agentListening, agentsOption } from './agent_options.ts';
import { dataFolder, localIssuer } from './local_authority.ts';
import { type OtlpVerbOptions, otlpExport, otlpOption } from './otlp_option.ts';
import { addText, readCount, readPort } from './option_values.ts';

interface Options extends StreamVerbOptions, AgentVerbOptions, OtlpVerbOptions {
  readonly store: string;
  readonly host: string;
  readonly port: number;
  readonly apiPort: number;
  readonly strictPort?: boolean;
  readonly serviceName: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly jsonForEmpty?: boolean;
  readonly rateLimit?: number;
  readonly addressDatabase: readonly string[];
  readonly passUnsimulated?: boolean;
  readonly allowPrivateFetch?: boolean;
  readonly edgePorts: (port: number) => boolean;
  readonly eventFiles?: string;
  readonly allowPrivateCallbacks?: boolean;
  readonly keepAudit?: number;
  readonly keepUndelivered?: number;
}

export function register(command: Command): void {
  command
    .option('--store <file>', 'store file; created if it does not exist', 'edgeproof.db')
    .option('--host <address>', 'listening address', '127.0.0.1')
    .option('-p, --port <port>', 'port of the edge; the next free one if it is in use', readPort, 8080)
    .option(
      '--api-port <port>',
      'port of the management API; the next free one if it is in use',
      readPort,
      4040,
    )
    .option('--strict-port', 'fail if a port is in use')
    .option('--service-name <name>', 'service name, used in headers and error codes', readName, 'service')
    .option('--tls-cert <file>', 'PEM certificate; serves the API over HTTPS')
    .option('--tls-key <file>', 'PEM private key of that certificate')
    .option('--json-for-empty', 'respond with 200 and {} instead of 204, which the published SDK needs')
    .option('--rate-limit <count>', 'request limit of the API per 60 seconds; default: none', readCount)
    .option(
      '--address-database <file>',
      'MaxMind DB file with facts about addresses; can be repeated',
      addText,
      [],
    )
    .option(
      '--pass-unsimulated',
      'let requests pass policy actions that are not simulated; otherwise they get 501',
    )
    .option(
      '--edge-ports <ports>',
      'ports that TLS and TCP edges may open, such as 5000-5999,6432; default: 1024-65535',
      readPorts,
      UNPRIVILEGED,
    )
    .option('--event-files <folder>', 'folder for the files of event destinations; default: no files')
    .option('--allow-private-callbacks', 'let event callbacks reach this machine and its network')
    .option('--keep-audit <days>', 'remove older audit records; default: keep all', readCount)
    .option('--keep-undelivered <days>', 'drop older undelivered audit events; default: keep all', readCount)
    .option('--allow-private-fetch', 'let http-request in policies reach this machine and its network');
  agentsOption(streamOptions(otlpOption(command))).action(async (options: Options) => {
    process.exitCode = await serve(options);
  });
}

async function serve(options: Options): Promise<number> {
  limitHeap();
  ignoreClosedOutput();
  let management: Management | null = null;
  let api: ApiListening;
  let edge: Listening | null = null;
  let otlp: ReturnType<typeof otlpExport> | null = null;
  try {
    const tls = tlsOf(options);
    otlp = otlpExport(options, options.serviceName, say);
    management = await openManagement({
      storePath: options.store,
      service: options.serviceName,
      emptyAsJson: options.jsonForEmpty === true,
      ...(options.rateLimit !== undefined && { requestsPerMinute: options.rateLimit }),
      ...(options.eventFiles !== undefined && { eventFiles: absolute(options.eventFiles) }),
      retention: {
        ...(options.keepAudit !== undefined && { auditDays: options.keepAudit }),
        ...(options.keepUndelivered !== undefined && { undeliveredDays: options.keepUndelivered }),
      },
      cloud: cloudFromEnvironment(process.env),
      allowPrivateCallbacks: options.allowPrivateCallbacks === true,
      ...(options.agents !== undefined && { agents: { reservedOnly: true } }),
      issuer: localIssuer(dataFolder(process.env, process.platform)),
      addressDatabases: options.addressDatabase.map((file) => basename(file)),
      edge: {
        geoipDatabases: await openGeoipDatabases(options.addressDatabase, process.cwd()),
        passUnsimulated: options.passUnsimulated === true,
        allowPrivateFetch: options.allowPrivateFetch === true,
        ...otlp.edge,
      },
    });
    const { host, port, edgePorts, strictPort = false } = options;
    const further = {
      ...streamListening(options, say),
      ...agentListening(options, management.ingressCertificate),
    };
    edge = await management.edge.listen({ host, port, strictPort, edgePorts, ...further });
    api = await listenForApi(management, { host, port: options.apiPort, strictPort, ...(tls && { tls }) });
  } catch (error) {
    await edge?.close(0);
    if (management !== null) sayFirstKey(management);
    await management?.close();
    await otlp?.close();
    throw error;
  }
  say(`\n  edgeproof  edge ${edge.url}  management API ${api.url}  (${api.url}/docs)`);
  const moved = [
    ...movedLine('port', options.port, edge.port),
    ...movedLine('API port', options.apiPort, api.port),
  ];
  for (const line of moved) say(`  ${line}`);
  for (const line of aboutStreams(management.edge.config, edge)) say(`  ${line}`);
  for (const line of aboutAgents(edge, '<authtoken>')) say(`  ${line}`);
  say(`  store ${options.store}`);
  sayFirstKey(management);
  say('');
  const code = await untilStopped();
  await api.close();
  await edge.close(DRAIN_MS);
  await management.close();
  await otlp.close();
  return code;
}

/** The key is in no other place: it is shown even if the start fails later. */
function sayFirstKey({ firstKey }: Management): void {
  if (firstKey !== null) say(`\n  admin key, shown only once: ${firstKey}`);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function tlsOf({ tlsCert, tlsKey }: Options): { readonly cert: string; readonly key: string } | null {
  if (tlsCert === undefined && tlsKey === undefined) return null;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new FileError('--tls-cert and --tls-key must be given together');
  }
  const files = { cert: readText(tlsCert), key: readText(tlsKey) };
  try {
    createSecureContext(files);
  } catch {
    throw new FileError(
      `${tlsCert} and ${tlsKey} are not a certificate and its private key in PEM; \`edgeproof cert HOST\` makes both`,
    );
  }
  return files;
}

function untilStopped(): Promise<number> {
  return new Promise((resolve) => {
    const stop = () => {
      for (const signal of ['SIGTERM', 'SIGINT'] as const)
        process.once(signal, () => process.exit(EXIT.interrupted));
      resolve(EXIT.ok);
    };
    process.once('SIGTERM', stop);
    process.once('SIGINT', stop);
  });
}

function readName(text: string): string {
  if (/^[a-z][a-z0-9-]{0,62}$/.test(text)) return text;
  throw new InvalidArgumentError('expected a lower-case letter, then lower-case letters, digits and dashes.');
}
