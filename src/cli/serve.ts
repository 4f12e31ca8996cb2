import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import type { ApiListening } from '../api/listen.ts';
import { ConfigError, type Listening } from '../edgeproof.ts';
import { StoreError } from '../store/port.ts';
import { openAddressBooks } from './address_books.ts';
import { EXIT } from './exit_codes.ts';
import { type FrontVerbOptions, aboutFront, frontListening, frontOptions } from './front_options.ts';
import { FileError } from './load_config.ts';
import { type Management, openManagement } from './management.ts';
import { boundYoungGeneration } from './young_generation.ts';

interface Options extends FrontVerbOptions {
  readonly store: string;
  readonly host: string;
  readonly port: number;
  readonly apiPort: number;
  readonly serviceName: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly jsonForEmpty?: boolean;
  readonly rateLimit?: number;
  readonly addressDatabase: readonly string[];
  readonly passUnsimulated?: boolean;
  readonly allowPrivateFetch?: boolean;
}

const DRAIN_MS = 10_000;

export function register(program: Command): void {
  frontOptions(program.command('serve'))
    .description('Serve the management API, and the edge that it configures')
    .option('--store <file>', 'file of the store; it is made when it is not there', 'edgeproof.db')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('-p, --port <port>', 'port of the edge; the next free one when it is in use', readPort, 8080)
    .option('--api-port <port>', 'port of the management API', readPort, 4040)
    .option('--service-name <name>', 'name that headers and error codes derive from', readName, 'service')
    .option('--tls-cert <file>', 'PEM of a certificate: the API speaks HTTPS')
    .option('--tls-key <file>', 'PEM of its private key')
    .option('--json-for-empty', 'answer 200 with {} instead of 204, which the published SDK needs')
    .option(
      '--rate-limit <count>',
      'requests to the API in any 60 seconds; no limit when left out',
      readCount,
    )
    .option(
      '--address-database <file>',
      'MaxMind DB that is asked for countries, networks and the like of addresses; may be repeated',
      (file: string, before: readonly string[]) => [...before, file],
      [],
    )
    .option(
      '--pass-unsimulated',
      'let requests pass policy actions that are not simulated; else they get 501',
    )
    .option('--allow-private-fetch', 'let http-request of policies reach this machine and its network')
    .action(async (options: Options) => {
      process.exitCode = await serve(options);
    });
}

async function serve(options: Options): Promise<number> {
  boundYoungGeneration();
  let management: Management | null = null;
  let api: ApiListening;
  let edge: Listening | null = null;
  try {
    const tls = tlsOf(options);
    management = await openManagement({
      storePath: options.store,
      service: options.serviceName,
      emptyAsJson: options.jsonForEmpty === true,
      ...(options.rateLimit !== undefined && { requestsPerMinute: options.rateLimit }),
      addressDatabases: options.addressDatabase.map((file) => basename(file)),
      edge: {
        addressBooks: await openAddressBooks(options.addressDatabase, process.cwd()),
        passUnsimulated: options.passUnsimulated === true,
        allowPrivateFetch: options.allowPrivateFetch === true,
      },
    });
    const { host, port } = options;
    edge = await management.edge.listen({ host, port, ...frontListening(options, say) });
    api = await management.listen({ host: options.host, port: options.apiPort, ...(tls && { tls }) });
  } catch (error) {
    await edge?.close(0);
    await management?.close();
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    if (error instanceof ConfigError) return EXIT.configInvalid;
    const isUsage = [StoreError, UsageError, FileError].some((kind) => error instanceof kind);
    return isUsage ? EXIT.usage : EXIT.runtime;
  }
  say(`\n  edgeproof  edge ${edge.url}  management API ${api.url}  (${api.url}/docs)`);
  for (const line of aboutFront(management.edge.config, edge)) say(`  ${line}`);
  say(`  store ${options.store}`);
  if (management.firstKey !== null) {
    say(`\n  admin key, shown this once: ${management.firstKey}`);
  }
  say('');
  const code = await untilStopped();
  await api.close();
  await edge.close(DRAIN_MS);
  await management.close();
  return code;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

class UsageError extends Error {}

function tlsOf({ tlsCert, tlsKey }: Options): { readonly cert: string; readonly key: string } | null {
  if (tlsCert === undefined && tlsKey === undefined) return null;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new UsageError('--tls-cert and --tls-key belong together');
  }
  return { cert: readFileSync(tlsCert, 'utf8'), key: readFileSync(tlsKey, 'utf8') };
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

function readPort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError('a port is a number from 0 to 65535.');
  return Number(text);
}

function readCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('a limit is a whole number from 1.');
  return Number(text);
}

function readName(text: string): string {
  if (/^[a-z][a-z0-9-]{0,62}$/.test(text)) return text;
  throw new InvalidArgumentError(
    'a name is a lower-case letter, then lower-case letters, digits and dashes.',
  );
}
