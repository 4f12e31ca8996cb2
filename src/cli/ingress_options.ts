import type { Command } from 'commander';
import type { AgentVerbOptions } from './agent_options.ts';
import { refuseWithoutEffect } from './options_without_effect.ts';
import { DRAIN_OPTION, addText, readDuration, readPort } from './option_values.ts';
import { type OtlpVerbOptions, otlpOption } from './otlp_option.ts';
import { type RecordOptions, BODY_BYTES, readBytes } from './recording.ts';
import { type ServiceOptions, serviceNameOption } from './service_name.ts';
import { type InspectorVerbOptions, inspectorOption } from './inspector.ts';
import { type SharedVerbOptions, sharedOptions } from './shared_options.ts';
import { type StreamVerbOptions, streamOptions } from './stream_options.ts';
import { readWorkers } from './workers.ts';

/** Options of every verb that listens. */
export interface IngressOptions
  extends
    StreamVerbOptions,
    AgentVerbOptions,
    RecordOptions,
    OtlpVerbOptions,
    ServiceOptions,
    InspectorVerbOptions,
    SharedVerbOptions {
  readonly port: number;
  readonly host: string;
  /** How long a stop waits for requests in flight, in ms. */
  readonly drain: number;
  /** How long a request waits for an upstream that cannot be reached, in ms. */
  readonly waitUpstream: number;
  readonly events?: string;
  readonly eventFilter?: string;
  readonly watch: boolean;
  readonly poll?: boolean;
  readonly workers: number;
  readonly passUnsimulated?: boolean;
  readonly allowPrivateFetch?: boolean;
}

/** The recording beside other work; `record` itself names its file with `--out`. */
export function recordOption(command: Command): Command {
  return command.option('--record <file>', 'append whole exchanges, redacted, for `replay`');
}

/** Adds the options of a verb that listens. */
export function ingressOptions(command: Command): Command {
  command
    .option('-p, --port <port>', 'listening port; the next free one if it is in use', readPort, 8080)
    .option('--host <address>', 'listening address', '127.0.0.1')
    .option('--workers <count>', 'number of worker processes behind one listener', readWorkers, 1)
    .option('--strict-port', 'fail if the port is in use')
    .option(...DRAIN_OPTION)
    .option(
      '--wait-upstream <duration>',
      'how long requests wait for an upstream that cannot be reached, such as 10s; default: they get 502 at once',
      readDuration,
      0,
    )
    .option(
      '--events <file>',
      'append events as NDJSON to a file, or - for standard output; or send them to a queue, such as nats://localhost:4222/edge.events',
    )
    .option('--event-filter <expression>', "write only matching events, such as 'ev.conn.server_port == 443'")
    .option('--record-bodies <bytes>', 'bytes kept of each body', readBytes, BODY_BYTES)
    .option('--redact <name>', 'also redact this header, parameter or member; can be repeated', addText, [])
    .option('--hash-redacted', 'record keyed hashes of redacted values; the key is not kept')
    .option(
      '--hash-key <file>',
      'record keyed hashes with the key in this file, which is created if it does not exist',
    )
    .option('--no-watch', 'do not reload on changes of the file')
    .option('--poll', 'poll for changes, for file systems without notifications')
    .option(
      '--pass-unsimulated',
      'let requests pass policy actions that are not simulated; otherwise they get 501',
    )
    .option('--allow-private-fetch', 'let http-request in policies reach this machine and its network');
  refuseWithoutEffect(command);
  return inspectorOption(streamOptions(otlpOption(sharedOptions(serviceNameOption(command)))), true);
}
