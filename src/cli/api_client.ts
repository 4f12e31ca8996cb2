import type { Command } from 'commander';
import { EXIT } from './exit_codes.ts';

/** Which instance a verb talks to. */
export interface ClientOptions {
  readonly url: string;
  readonly serviceName: string;
}

/** An answer that is no success, or none at all; the message is for the user. */
export class ApiError extends Error {
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
  let response: Response;
  try {
    response = await fetch(url.replace(/\/$/, '') + path, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  } catch (error) {
    throw new ApiError(`${url} cannot be reached: ${(error as Error).message}`);
  }
  const answer = (await response.json()) as {
    readonly msg?: string;
    readonly error_code?: string;
    readonly details?: { readonly pointer?: string };
  };
  if (response.ok) return answer;
  const { error_code: code = String(response.status), msg = '', details } = answer;
  throw new ApiError(`${code}: ${msg}${details?.pointer === undefined ? '' : ` (at ${details.pointer})`}`);
}

/** Runs a verb; an API error is said and gives the code for what is outside. */
export async function tellingErrors(work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return EXIT.runtime;
  }
}
