import type { Command } from 'commander';
import { type AgentVerbOptions, agentsOption } from './agent_options.ts';
import { type InspectorVerbOptions, inspectorOption } from './inspector.ts';
import { refuseWithoutEffect } from './options_without_effect.ts';
import { DRAIN_OPTION, addText, readCount, readDuration, readPort } from './option_values.ts';
import { type OtlpVerbOptions, otlpOption } from './otlp_option.ts';
import type { ServeFiles } from './serve_files.ts';
import { type ServiceOptions, serviceNameOption } from './service_name.ts';
import { type SharedVerbOptions, sharedOptions } from './shared_options.ts';
import { type StreamVerbOptions, isUnprivileged, readPorts, streamOptions } from './stream_options.ts';
import { SEAL_KEY_COMMAND, SEAL_KEY_FILE, readStore } from './with_store.ts';
import { readWorkers } from './workers.ts';

/** Options of `serve`. */
export interface ServeOptions
  extends
    ServeFiles,
    StreamVerbOptions,
    AgentVerbOptions,
    OtlpVerbOptions,
    ServiceOptions,
    InspectorVerbOptions,
    SharedVerbOptions {
  readonly store: string;
  readonly maxStale?: number;
  readonly host: string;
  readonly port: number;
  readonly apiPort: number;
  readonly drain: number;
  readonly log?: boolean;
  readonly jsonForEmpty?: boolean;
  readonly rateLimit?: number;
  readonly addressDatabase: readonly string[];
  readonly passUnsimulated?: boolean;
  readonly allowPrivateFetch?: boolean;
  readonly edgePorts: (port: number) => boolean;
  readonly eventFiles?: string;
  readonly allowPrivateCallbacks?: boolean;
  readonly workers: number;
  readonly keepAudit?: number;
  readonly keepUndelivered?: number;
}

const MAX_STALE = 'exit after the store has been unreachable this long; default: keep serving';

const WORKERS = 'number of worker processes behind one listener; needs a store in PostgreSQL';

/** Adds the options of `serve`. */
export function serveOptions(command: Command): Command {
  command
    .option(
      '--store <place>',
      'store file, created if it does not exist; or postgres://…',
      readStore,
      'edgeproof.db',
    )
    .option(...SEAL_KEY_FILE)
    .option(...SEAL_KEY_COMMAND)
    .option('--max-stale <duration>', MAX_STALE, readDuration)
    .option('--host <address>', 'listening address', '127.0.0.1')
    .option('-p, --port <port>', 'port of the edge; the next free one if it is in use', readPort, 8080)
    .option(
      '--api-port <port>',
      'port of the management API; the next free one if it is in use',
      readPort,
      4040,
    )
    .option('--workers <count>', WORKERS, readWorkers, 1)
    .option('--strict-port', 'fail if a port is in use')
    .option(...DRAIN_OPTION)
    .option('--log', 'print a line for each request and connection, with the names of objects that have one')
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
      isUnprivileged,
    )
    .option('--event-files <folder>', 'folder for the files of event destinations; default: no files')
    .option('--allow-private-callbacks', 'let event callbacks reach this machine and its network')
    .option('--keep-audit <days>', 'remove older audit records; default: keep all', readCount)
    .option('--keep-undelivered <days>', 'drop older undelivered audit events; default: keep all', readCount)
    .option('--allow-private-fetch', 'let http-request in policies reach this machine and its network');
  refuseWithoutEffect(command);
  return inspectorOption(
    agentsOption(streamOptions(otlpOption(sharedOptions(serviceNameOption(command))))),
    false,
  );
}
