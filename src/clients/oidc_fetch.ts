import type { CustomFetch } from 'openid-client';
import { Headers, Response } from 'undici';
import { isBodylessStatus } from '../http/bodyless.ts';
import type { ControlClient } from './fetch.ts';

export type OidcFetch = CustomFetch;

/** Maximum response size. */
const LIMIT_BYTES = 1_024 * 1_024;
/** The library gives up earlier, by its signal. */
const TIMEOUT_MS = 60_000;

/** The HTTP client of the library, on the client of control requests: no redirects, no compression. */
export function oidcFetch({ send }: Pick<ControlClient, 'send'>): OidcFetch {
  return async (url, { method, headers, body, signal }) => {
    const answer = await send(
      {
        url,
        method,
        headers: ['accept-encoding', 'identity', ...Object.entries(headers).flat()],
        body: body === undefined || body === null ? null : await bytesOf(body),
        timeoutMs: TIMEOUT_MS,
        limitBytes: LIMIT_BYTES,
        maxRedirects: 0,
        allowPrivate: true,
      },
      signal ?? new AbortController().signal,
    );
    if ('failure' in answer) throw new Error(answer.detail);
    const { status, headers: fields } = answer;
    const given = new Headers();
    for (let at = 0; at < fields.length; at += 2) given.append(fields[at]!, fields[at + 1]!);
    const content = isBodylessStatus(status) ? null : Buffer.from(answer.body);
    // Some servers replace the global class with one that the library cannot read.
    return new Response(content, { status, headers: given }) as unknown as globalThis.Response;
  };
}

async function bytesOf(body: NonNullable<Parameters<CustomFetch>[1]['body']>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(body as string).arrayBuffer());
}
