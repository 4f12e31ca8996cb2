import { type Command, InvalidArgumentError } from 'commander';
import { nearName } from './near_names.ts';
import { hasField, fieldPairs } from '../http/fields.ts';
import { type Explanation, explainWebhook } from '../webhooks/explain.ts';
import { parseInstant } from '../webhooks/instants.ts';
import type { Provider } from '../webhooks/provider.ts';
import type { WebhookRequest } from '../webhooks/reading.ts';
import { webhookSecretProblems } from '../webhooks/secret.ts';
import { mediaTypeOf, signWebhook } from '../webhooks/sign.ts';
import { PROVIDER_IDS, findProvider } from '../webhooks/table.ts';
import { EXIT } from './exit_codes.ts';
import { FileError, readBytes } from '../project_files/load_config.ts';
import { wantsColor, printable } from './terminal.ts';
import { curlOf, headerLines, parseHttpRequest } from './webhook_request.ts';
import { addHeader, splitHeader } from './option_values.ts';
import { painter } from '../diagnostics/render.ts';
import { textOrJson } from './reporter_option.ts';
import { stdout } from './output.ts';

interface Options {
  readonly provider: Provider;
  readonly secret?: string;
  readonly secretFile?: string;
  readonly data?: string;
  readonly url: string;
  readonly method: string;
  readonly header: readonly string[];
  readonly at?: number;
  readonly json?: boolean;
}

interface SignOptions extends Options {
  readonly scheme?: string;
  readonly curl?: boolean;
}

interface VerifyOptions extends Options {
  readonly request?: string;
  readonly certificate?: string;
}

const DEFAULT_URL = 'https://localhost/';

export function register(command: Command): void {
  const sign = command.command('sign').description('Sign a webhook for a test');
  shared(sign)
    .option('--scheme <name>', "one of the provider's schemes, such as v3")
    .option('--curl', 'print a curl command')
    .action((options: SignOptions) => void (process.exitCode = signVerb(options)));
  const verify = command
    .command('verify')
    .description('Verify a webhook and explain step by step why it is accepted or rejected');
  shared(verify)
    .option('--request <file>', 'file with a whole HTTP request, head and body, instead of -H and --data')
    .option('--certificate <file>', 'PEM file of the certificate that an sns message names')
    .action((options: VerifyOptions) => void (process.exitCode = verifyVerb(options)));
}

function shared(command: Command): Command {
  return textOrJson(command)
    .requiredOption('--provider <id>', 'provider id, in any letter case', readProvider)
    .option(
      '--secret <secret>',
      'webhook secret; for providers with a public key, the private key to sign with',
    )
    .option('--secret-file <file>', 'file that contains the secret')
    .option('-d, --data <file>', 'file with the request body; - is standard input')
    .option('--url <url>', 'full URL that the sender used', DEFAULT_URL)
    .option('-X, --method <method>', 'request method', 'POST')
    .option('-H, --header <header>', "request header 'name: value'; can be repeated", addHeader, [])
    .option(
      '--at <time>',
      'current time, as 2027-01-02T03:04:05Z or in milliseconds; default: now',
      readTime,
    );
}

function signVerb(options: SignOptions): number {
  const { provider } = options;
  const secret = secretOf(options);
  if (secret === undefined) throw new FileError('signing needs a secret: give --secret or --secret-file');
  const draft = requestOf(options);
  const typed = hasField(draft.headers, 'content-type')
    ? draft
    : { ...draft, headers: ['Content-Type', mediaTypeOf(provider), ...draft.headers] };
  const scheme = options.scheme === undefined ? {} : { scheme: options.scheme };
  const signed = signWebhook(provider, secret, typed, options.at ?? Date.now(), scheme);
  if ('problem' in signed) throw new FileError(signed.problem);
  const { request, added } = signed;
  if (options.json === true) {
    const { method, url, headers } = request;
    write(JSON.stringify({ method, url, headers: fieldPairs(headers), body: textOf(request) }, null, 2));
  } else if (options.curl === true) write(curlOf(request));
  else {
    write(headerLines(added));
    // Some providers sign in the body or the URL, so the headers alone are not enough.
    if (request.url !== draft.url) write(`URL: ${request.url}`);
    if (textOf(request) !== textOf(draft)) write(`\n${textOf(request)}`);
  }
  return EXIT.ok;
}

function verifyVerb(options: VerifyOptions): number {
  const request =
    options.request === undefined
      ? requestOf(options)
      : parseHttpRequest(readBytes(options.request), options.url === DEFAULT_URL ? undefined : options.url);
  if (request === null) throw new FileError(`${options.request} does not contain an HTTP request`);
  const secret = secretOf(options);
  const [problem] = webhookSecretProblems(options.provider, secret);
  if (problem !== undefined) throw new FileError(problem.message);
  const certificates = new Map(certificateOf(options, request));
  const explanation = explainWebhook(
    options.provider,
    secret,
    request,
    options.at ?? Date.now(),
    certificates,
  );
  write(options.json === true ? JSON.stringify(explanation, null, 2) : explanationText(explanation));
  const { outcome } = explanation;
  return outcome.outcome === 'verified' || outcome.outcome === 'challenge' ? EXIT.ok : EXIT.failed;
}

/** The given certificate is used for any certificate that the message names. */
function certificateOf(options: VerifyOptions, request: WebhookRequest): [string, string][] {
  if (options.certificate === undefined) return [];
  const url = /"SigningCertURL"\s*:\s*"([^"]*)"/.exec(textOf(request))?.[1];
  return url === undefined ? [] : [[url, readBytes(options.certificate).toString('latin1')]];
}

function explanationText({ outcome, steps, causes }: Explanation): string {
  const width = Math.max(...steps.map(({ title }) => title.length));
  const lines = steps.map(({ ok, title, text }) => `${mark(ok)} ${title.padEnd(width)}  ${printable(text)}`);
  if (outcome.outcome === 'challenge')
    lines.push(`  ${outcome.response.status} ${printable(outcome.response.body)}`);
  if (causes.length > 0)
    lines.push('', 'Likely causes:', ...causes.map((cause) => `  - ${printable(cause)}`));
  return lines.join('\n');
}

function mark(ok: boolean | null): string {
  const paint = painter({ color: wantsColor(stdout) });
  if (ok === null) return ' ';
  return ok ? paint('green', '✓') : paint('red', '✗');
}

function requestOf(options: Options): WebhookRequest {
  const headers = options.header.flatMap(splitHeader);
  const body = options.data === undefined ? Buffer.alloc(0) : readBytes(options.data);
  return { method: options.method.toUpperCase(), url: options.url, headers, body };
}

/** A final newline in a file comes from the editor and is not part of the secret. */
function secretOf(options: Options): string | undefined {
  if (options.secretFile === undefined) return options.secret;
  return readBytes(options.secretFile)
    .toString('utf8')
    .replace(/\r?\n$/, '');
}

function readProvider(id: string): Provider {
  const provider = findProvider(id);
  if (provider !== undefined) return provider;
  throw new InvalidArgumentError(`unknown provider; ${nearName(id.toLowerCase(), PROVIDER_IDS)}`);
}

function readTime(text: string): number {
  const ms = parseInstant(text, /^\d+$/.test(text) ? 'ms' : 'iso');
  if (ms === null) throw new InvalidArgumentError('expected a time such as 2027-01-02T03:04:05Z.');
  return ms;
}

function textOf(request: WebhookRequest): string {
  return Buffer.from(request.body).toString('utf8');
}

function write(text: string): void {
  stdout.write(`${text}\n`);
}
