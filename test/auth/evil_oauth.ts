import type { FetchRequest } from '../../src/engine/contract.ts';
import type { Answers } from '../../src/engine/questions.ts';
import { type Hop, browserOf } from './browser.ts';
import { edgeWith, github } from './gate_edge.ts';

type Fetched = Answers['fetch'];

interface Said {
  /** How long the response takes, on the clock of the edge. */
  readonly afterMs?: number;
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: readonly string[];
  readonly failure?: Extract<Fetched, { failure: string }>['failure'];
}

/** Responses of GitHub's addresses, by path; those of an honest provider where a path is absent. */
export type Answering = Readonly<Record<string, Said>>;

const HONEST: Answering = {
  '/login/oauth/access_token': { body: { access_token: 'token', token_type: 'bearer' } },
  '/user': { body: { id: 7, login: 'alice', name: 'Alice' } },
  '/user/emails': { body: [{ email: 'alice@acme.test', verified: true, primary: true }] },
  '/user/orgs': { body: [{ login: 'acme' }] },
};

/** A login at a GitHub with these responses: the hop that ends it, and the requests to each host. */
export async function loginAt(
  answering: Answering,
  callback: (query: URLSearchParams) => void = () => {},
): Promise<{ readonly login: Hop; readonly after: Hop; readonly asked: readonly FetchRequest[] }> {
  const asked: FetchRequest[] = [];
  let nowMs = Date.now();
  const fetch = (request: FetchRequest): Fetched => {
    asked.push(request);
    const { pathname } = new URL(request.url);
    const said: Said = { ...HONEST[pathname], ...answering[pathname] };
    const { status = 200, body, headers = [], failure, afterMs = 0 } = said;
    nowMs += Math.min(afterMs, request.timeoutMs);
    if (afterMs > request.timeoutMs) return { failure: 'timeout', detail: 'as the test says' };
    if (failure !== undefined) return { failure, detail: 'as the test says' };
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return { status, headers, body: Buffer.from(text), resolvedIp: '', timeMs: 0 };
  };
  const edge = edgeWith(github({ organizations: ['acme'] }), {
    clients: { fetch },
    clock: () => nowMs,
    upstream: () => new Response('the app'),
  });
  const browser = browserOf(edge, 'app.test');
  const begun = await browser.go('https://app.test/');
  const back = new URL('https://app.test/auth/callback');
  back.searchParams.set('code', 'a-code');
  back.searchParams.set('state', new URL(begun.location!).searchParams.get('state')!);
  callback(back.searchParams);
  const login = await browser.go(back.href);
  const after = await browser.go('https://app.test/', { headers: { accept: 'application/json' } });
  return { login, after, asked };
}
