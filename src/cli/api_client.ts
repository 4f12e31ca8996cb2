import { detailText } from '../diagnostics/system_failure.ts';
import type { Command } from 'commander';
import { FileError } from '../project_files/load_config.ts';
import { type ServiceOptions, USUAL_SERVICE, serviceNameOption } from './service_name.ts';

/** The instance that a verb talks to. */
export interface ClientOptions extends ServiceOptions {
  readonly url: string;
}

/** A large configuration takes a while to apply. */
const TIMEOUT_MS = 300_000;
const LIMIT_BYTES = 256 * 1_024 * 1_024;

/** A response that is not a success, or a missing response; the message is for the user. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** Empty if there was no response. */
  readonly code: string;
  readonly msg: string;
  /** Pointers into the body of the request. */
  readonly pointers: readonly string[];
  /** Whether the body of the request is wrong, not its head, its sender or the state of the instance. */
  readonly isOfBody: boolean;

  constructor(
    message: string,
    { code = '', msg = '', pointers = [] as readonly string[], isOfBody = false } = {},
  ) {
    super(message);
    this.code = code;
    this.msg = msg;
    this.pointers = pointers;
    this.isOfBody = isOfBody;
  }
}

export function addClientOptions(command: Command): Command {
  return serviceNameOption(command).option(
    '--url <url>',
    'address of the management API',
    'http://127.0.0.1:4040',
  );
}

/** Calls the management API with the key of the environment. Throws FileError without a key or a usable URL, and ApiError if the call fails. */
export async function callApi(
  { url, serviceName = USUAL_SERVICE }: ClientOptions,
  method: 'GET' | 'PUT',
  path: string,
  body?: unknown,
): Promise<unknown> {
  const key = process.env['EDGEPROOF_API_KEY'] ?? '';
  if (key === '')
    throw new FileError(
      'there is no key of the management API; set EDGEPROOF_API_KEY to one, which `edgeproof keys create` makes',
    );
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw new FileError(`${url} is not the URL of a management API; write it as ${urlLike(url)}`);
  const headers = { authorization: `Bearer ${key}`, [`${serviceName}-version`]: '2' };
  const { createFetcher } = await import('../clients/fetch.ts');
  const client = createFetcher();
  const response = await client.fetch(
    {
      method,
      url: url.replace(/\/$/, '') + path,
      headers: [
        ...Object.entries(headers).flat(),
        ...(body === undefined ? [] : ['content-type', 'application/json']),
      ],
      body: body === undefined ? null : Buffer.from(JSON.stringify(body)),
      timeoutMs: TIMEOUT_MS,
      limitBytes: LIMIT_BYTES,
      maxRedirects: 0,
      allowPrivate: true,
    },
    new AbortController().signal,
  );
  await client.close();
  if ('failure' in response)
    throw new ApiError(
      `${url} cannot be reached: ${detailText(response.detail)}; start the edge with \`edgeproof serve\`, or correct the address`,
    );
  const { status } = response;
  const answer = readAnswer(url, status, response.body);
  if (status >= 200 && status < 300) return answer;
  const { error_code: code = String(status), msg = '', details } = answer;
  const { pointer, pointers = pointer } = details ?? {};
  const at = pointer === undefined || details?.pointers !== undefined ? '' : ` (at ${pointer})`;
  const cure = cureOf(url, status, answer);
  const sentence = cure === '' ? msg : msg.replace(/\.$/, '');
  throw new ApiError(`${code}: ${sentence}${at}${cure}`, {
    code,
    msg,
    pointers: pointers?.split(' ') ?? [],
    isOfBody: status === 400 && (await isRefusalOfBody(code)),
  });
}

/** As the catalogue of numbers says; a code without a number is of something that is not in it. */
async function isRefusalOfBody(code: string): Promise<boolean> {
  const { isAboutBody } = await import('../control/api_numbers.ts');
  return isAboutBody(Number(/_(\d+)$/.exec(code)?.[1]));
}

function cureOf(url: string, status: number, { details }: ApiAnswer): string {
  if (status === 401 || status === 403) return `; the key in EDGEPROOF_API_KEY has to be one of ${url}`;
  const service = details?.service;
  return service === undefined
    ? ''
    : `; this instance was started with the service name ${service}: give --service-name ${service}`;
}

/** The URL that a host and a port probably mean. */
function urlLike(text: string): string {
  return /^[\w.-]+:\d+$/.test(text) ? `http://${text}` : 'http://127.0.0.1:4040';
}

interface ApiAnswer {
  readonly msg?: string;
  readonly error_code?: string;
  readonly details?: { readonly pointer?: string; readonly pointers?: string; readonly service?: string };
}

function readAnswer(url: string, status: number, body: Uint8Array): ApiAnswer {
  try {
    return JSON.parse(Buffer.from(body).toString()) as ApiAnswer;
  } catch {
    throw new ApiError(`${url} is not a management API: its answer with status ${status} is not JSON`);
  }
}
