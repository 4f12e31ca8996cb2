import { isBodylessStatus } from '../http/bodyless.ts';
import { fieldPairs } from '../http/fields.ts';
import { createFetcher } from './fetch.ts';

const TIMEOUT_MS = 60_000;
/** Maximum response size: this upstream is for embedding and does not stream. */
const LIMIT_BYTES = 100_000_000;

/** An upstream for `handle` without a script that uses the network. Throws if there is no response. */
export async function fetchUpstream(request: Request): Promise<Response> {
  const fetcher = createFetcher();
  try {
    const body = new Uint8Array(await request.arrayBuffer());
    const answer = await fetcher.fetch(
      {
        method: request.method,
        url: request.url,
        headers: [...request.headers].flat(),
        body: body.length === 0 ? null : body,
        timeoutMs: TIMEOUT_MS,
        limitBytes: LIMIT_BYTES,
        maxRedirects: 0,
        allowPrivate: true,
      },
      new AbortController().signal,
    );
    if ('failure' in answer) throw new Error(answer.detail);
    const content = isBodylessStatus(answer.status) ? null : Buffer.from(answer.body);
    return new Response(content, { status: answer.status, headers: fieldPairs(answer.headers) });
  } finally {
    await fetcher.close();
  }
}
