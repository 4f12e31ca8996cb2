import type { CustomFetch } from 'openid-client';
import { Agent, fetch } from 'undici';
import { isBodylessStatus } from '../http/bodyless.ts';

export type OidcFetch = CustomFetch;

/** Maximum response size. */
const LIMIT_BYTES = 1_024 * 1_024;

const agent = new Agent({ allowH2: false, keepAliveTimeout: 1_000 });

/** The HTTP client of the library: no redirects, bounded responses. */
export const oidcFetch: OidcFetch = async (url, { method, headers, body, signal }) => {
  const response = await fetch(url, {
    method,
    headers,
    redirect: 'manual',
    dispatcher: agent,
    ...(body === undefined || body === null ? {} : { body: body as string | URLSearchParams }),
    ...(signal === undefined ? {} : { signal }),
  });
  const bytes = await wholeOf(response.body);
  return new Response(isBodylessStatus(response.status) ? null : bytes, {
    status: response.status,
    headers: [...response.headers] as [string, string][],
  });
};

async function wholeOf(body: AsyncIterable<Uint8Array> | null): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > LIMIT_BYTES) throw new Error(`the response has more than ${LIMIT_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Uint8Array.from(Buffer.concat(chunks));
}
