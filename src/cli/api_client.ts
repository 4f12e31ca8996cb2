import type { Command } from 'commander';
import { EXIT } from './exit_codes.ts';

/** The instance that a verb talks to. */
export interface ClientOptions {
  readonly url: string;
  readonly serviceName: string;
}

/** A large configuration takes a while to apply. */
const TIMEOUT_MS = 300_000;
const LIMIT_BYTES = 256 * 1_024 * 1_024;

/** A response that is not a success, or a missing response; the message is for the user. */
class ApiError extends Error {
  override readonly name = 'ApiError';
}

export function addClientOptions(command: Command): Command {
  return command
    .option('--url <url>', 'address of the management API', 'http://127.0.0.1:4040')
    .option('--service-name <name>', 'name of the service that it was started with', 'service');
}

/** Calls the management API with the key of the environment. */
export async function callApi(
  { url, serviceName }: ClientOptions,
  method: 'GET' | 'PUT',
  path: string,
  body?: unknown,
): Promise<unknown> {
  const key = process.env['EDGEPROOF_API_KEY'] ?? '';
  if (key === '') throw new ApiError('set EDGEPROOF_API_KEY to a key of the management API');
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
  if ('failure' in response) throw new ApiError(`${url} cannot be reached: ${response.detail}`);
  const { status } = response;
  const answer = readAnswer(url, status, response.body);
  if (status >= 200 && status < 300) return answer;
  const { error_code: code = String(status), msg = '', details } = answer;
  throw new ApiError(`${code}: ${msg}${details?.pointer === undefined ? '' : ` (at ${details.pointer})`}`);
}

interface ApiAnswer {
  readonly msg?: string;
  readonly error_code?: string;
  readonly details?: { readonly pointer?: string };
}

function readAnswer(url: string, status: number, body: Uint8Array): ApiAnswer {
  try {
    return JSON.parse(Buffer.from(body).toString()) as ApiAnswer;
  } catch {
    throw new ApiError(`${url} is not a management API: its answer with status ${status} is not JSON`);
  }
}

/** Runs a verb; prints an API error and returns the exit code for outside failures. */
export async function withApiErrors(work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return EXIT.runtime;
  }
}
