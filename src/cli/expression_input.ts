import { dirname, resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { type Diagnostic, hasErrors } from '../diagnostics/diagnostic.ts';
import { USUAL_TLS, connectionOf, headOf } from '../engine/request_like.ts';
import type { Scope } from '../cel/scope.ts';
import { isError, stringMap } from '../cel/values.ts';
import { type ActionResult, Activation } from '../policy/env/activation.ts';
import type { GeoipDatabase } from '../policy/env/facts.ts';
import { compileFacts } from '../policy/env/facts_table.ts';
import type {
  ConnectionInput,
  EndpointInput,
  RequestInput,
  ResponseInput,
  TlsInput,
} from '../policy/env/inputs.ts';
import { valueOfPlain } from '../policy/env/json.ts';
import { isMmdbProblem, openMmdb } from '../policy/env/mmdb.ts';
import { SCOPE_PHASES, type ScopePhase, isScopePhase } from '../filters/phase.ts';
import { scopeFor } from '../policy/env/scopes.ts';
import type { FieldList } from '../http/fields.ts';
import { seededChance } from '../engine/drivers/seeded_chance.ts';
import { FileError, readBytes } from '../project_files/load_config.ts';
import { type HeadersInFile, type ScopeFile, readScopeFile } from './scope_file.ts';
import { addHeader, splitHeader } from './option_values.ts';
import { type ServiceOptions, USUAL_SERVICE, serviceNameOption } from './service_name.ts';
import { secretProvider } from '../edge/secrets.ts';
import { stderr } from './output.ts';

/** Options of all verbs that evaluate expressions. */
export interface InputOptions extends ServiceOptions {
  readonly scope?: string;
  readonly request?: string;
  readonly header: readonly string[];
  readonly ip?: string;
  readonly phase?: ScopePhase;
}

/** The values that expressions are evaluated on, and their scope. */
export interface ExpressionInput {
  readonly phase: ScopePhase;
  readonly service: string;
  readonly scope: Scope<Activation>;
  readonly activation: Activation;
}

const DEFAULT_URL = 'https://shop.test/';

export function addInputOptions(command: Command): Command {
  return serviceNameOption(command)
    .option('-s, --scope <file>', 'file that describes request, response, connection, vars and so on')
    .option('--request <request>', "request 'METHOD URL', or only a URL")
    .option('-H, --header <header>', "request header 'name: value'; can be repeated", addHeader, [])
    .option('--ip <address>', 'client address')
    .option('--phase <phase>', `phase whose variables exist: ${SCOPE_PHASES.join(', ')}`, readPhase);
}

function readPhase(text: string): ScopePhase {
  if (!isScopePhase(text)) throw new InvalidArgumentError(`expected a phase: ${SCOPE_PHASES.join(', ')}.`);
  return text;
}

/**
 * Reads the files that the options name and makes the input. Findings about the scope file are returned; when
 * they are errors, there is no input. Throws TypeError for a wrong option and FileError for a file that
 * cannot be read, both with a message for the user.
 */
async function expressionInput(
  options: InputOptions,
): Promise<{ readonly input: ExpressionInput | null; readonly diagnostics: readonly Diagnostic[] }> {
  const path = options.scope;
  const read =
    path === undefined
      ? { file: {} as ScopeFile, diagnostics: [], place: (one: Diagnostic) => one }
      : readScopeFile(path, readBytes(path).toString('utf8'));
  const { file } = read;
  if (hasErrors(read.diagnostics)) return { input: null, diagnostics: read.diagnostics };
  const folder = path === undefined ? '.' : dirname(path);
  const books: GeoipDatabase[] = [];
  for (const name of file.mmdb ?? []) books.push(await readDatabase(resolve(folder, name)));
  const { facts, diagnostics } = compileFacts(file.facts, '/facts', books);
  const found = [...read.diagnostics, ...diagnostics.map(read.place)];
  if (hasErrors(found)) return { input: null, diagnostics: found };
  const phase = options.phase ?? phaseOf(file);
  const service = options.serviceName ?? file.service ?? USUAL_SERVICE;
  const nowMs = momentOf(file.now);
  const request = requestOf(file, options, nowMs);
  const connection = connectionFrom(file, options, request, nowMs);
  const activation = new Activation(
    {
      nowMs: () => nowMs,
      random: file.seed === undefined ? () => Math.random() : seededChance(file.seed).random,
    },
    { facts, endpoint: endpointOf(file, request, connection), secret: secretsOf(file) },
    connection,
    request,
    responseOf(file),
  );
  setState(activation, file);
  return { input: { phase, service, scope: scopeFor(phase, { service }), activation }, diagnostics: found };
}

async function readDatabase(path: string): Promise<GeoipDatabase> {
  const book = openMmdb(readBytes(path));
  if (isMmdbProblem(book)) throw new FileError(`${path}: ${book.problem}`);
  return book;
}

function phaseOf(file: ScopeFile): ScopePhase {
  if (file.phase === undefined) return file.response === undefined ? 'on_http_request' : 'on_http_response';
  if (!isScopePhase(file.phase))
    throw new TypeError(`'${file.phase}' is not a phase; expected one of ${SCOPE_PHASES.join(', ')}`);
  return file.phase;
}

function momentOf(text: string | undefined): number {
  if (text === undefined) return Date.now();
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw new TypeError(`'${text}' is not a time such as 2026-01-31T08:30:00Z`);
  return at;
}

function requestOf(file: ScopeFile, options: InputOptions, nowMs: number): RequestInput {
  const [first = '', second] = (options.request ?? '').trim().split(/\s+/, 2);
  const method = second === undefined ? (file.request?.method ?? 'GET') : first;
  const url = second ?? (first === '' ? (file.request?.url ?? DEFAULT_URL) : first);
  const headers = [...pairsOf(file.request?.headers), ...options.header.map(splitHeader)];
  const head = headOf({ method, url, headers });
  if ('refused' in head) throw new TypeError(`the request would be refused: ${head.message}`);
  const { trailers } = file.request ?? {};
  return { ...head, receivedMs: nowMs, ...(trailers !== undefined && { trailers: fieldsOf(trailers) }) };
}

function pairsOf(headers: HeadersInFile | undefined): (readonly [string, string])[] {
  return Object.entries(headers ?? {}).flatMap(([name, values]) =>
    (typeof values === 'string' ? [values] : values).map((value) => [name, value] as const),
  );
}

function fieldsOf(headers: HeadersInFile | undefined): FieldList {
  return pairsOf(headers).flat();
}

function responseOf({ response }: ScopeFile): ResponseInput {
  const { status = 200, headers, trailers } = response ?? {};
  return {
    status,
    headers: fieldsOf(headers),
    ...(trailers !== undefined && { trailers: fieldsOf(trailers) }),
  };
}

function connectionFrom(
  { connection = {} }: ScopeFile,
  options: InputOptions,
  request: RequestInput,
  nowMs: number,
): ConnectionInput {
  const clientIp = options.ip ?? connection.client_ip;
  const base = connectionOf(
    {
      ...(clientIp !== undefined && { clientIp }),
      ...(connection.client_port !== undefined && { clientPort: connection.client_port }),
      ...(connection.server_ip !== undefined && { serverIp: connection.server_ip }),
      ...(connection.server_port !== undefined && { serverPort: connection.server_port }),
    },
    request.scheme,
    nowMs,
  );
  const { tls } = connection;
  const hasTls = tls !== undefined || request.scheme === 'https';
  return {
    ...base,
    serverName: tls?.sni ?? request.host,
    tls: hasTls ? tlsOf(tls ?? {}) : null,
    ...(connection.bytes_in !== undefined && { bytesIn: connection.bytes_in }),
    ...(connection.bytes_out !== undefined && { bytesOut: connection.bytes_out }),
  };
}

type TlsInFile = NonNullable<NonNullable<ScopeFile['connection']>['tls']>;

function tlsOf({ version, cipher_suite, alpn, ja4, client_certificate: client }: TlsInFile): TlsInput {
  return {
    version: version ?? USUAL_TLS.version,
    cipherSuite: cipher_suite ?? USUAL_TLS.cipherSuite,
    clientCertificate:
      client === undefined
        ? null
        : { serialNumber: client.serial_number ?? '', subjectCn: client.common_name ?? '' },
    ...(alpn !== undefined && { negotiatedAlpn: alpn }),
    ...(ja4 !== undefined && { ja4Fingerprint: ja4 }),
  };
}

function endpointOf(
  { endpoint }: ScopeFile,
  request: RequestInput,
  { serverPort }: ConnectionInput,
): EndpointInput {
  return {
    id: endpoint?.id ?? 'ep_local',
    host: endpoint?.host ?? request.host,
    port: endpoint?.port ?? serverPort,
    protocol: endpoint?.protocol ?? request.scheme,
  };
}

function secretsOf({ secrets = {} }: ScopeFile): (vault: string, name: string) => string | undefined {
  return secretProvider(secrets).get;
}

function setState(activation: Activation, { vars = {}, actions = {} }: ScopeFile): void {
  for (const [name, plain] of Object.entries(vars)) {
    const value = valueOfPlain(plain);
    if (isError(value)) throw new TypeError(`vars.${name}: ${value.message}`);
    activation.setVar(name, value);
  }
  for (const [name, plain] of Object.entries(actions)) {
    const value = valueOfPlain(plain);
    if (isError(value)) throw new TypeError(`actions.${name}: ${value.message}`);
    activation.setResult(name, typeof value === 'object' ? (value as ActionResult) : stringMap());
  }
}

/** As `expressionInput`, but writes user errors to stderr and then returns null. */
export async function inputOrNull(
  options: InputOptions,
): Promise<Awaited<ReturnType<typeof expressionInput>> | null> {
  try {
    return await expressionInput(options);
  } catch (error) {
    if (!(error instanceof FileError || error instanceof TypeError)) throw error;
    stderr.write(`${error.message}\n`);
    return null;
  }
}
