/** The page's only way to its server. The token is in the fragment of the URL, which no server is sent. */
import type { DiagnosticJson } from '../../diagnostics/json.ts';
import type { FeedEvent, Refused } from '../wire.ts';

/** What the fragment says: the token, and what to open. */
export function fragment(): URLSearchParams {
  return new URLSearchParams(location.hash.slice(1));
}

const STORED = 'token';

/** The token of the fragment, or that of the page before: links of error pages have none. */
function token(): string {
  const given = fragment().get('token');
  if (given === null) return localStorage.getItem(STORED) ?? '';
  localStorage.setItem(STORED, given);
  return given;
}

/** A request that the server refused, or that did not reach it (status 0). */
export class Refusal extends Error {
  readonly status: number;
  readonly diagnostics: readonly DiagnosticJson[];

  constructor(status: number, message: string, diagnostics: readonly DiagnosticJson[] = []) {
    super(message);
    this.status = status;
    this.diagnostics = diagnostics;
  }
}

/** The sentence of a failure. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function answerTo(path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set('authorization', `Bearer ${token()}`);
  let response: Response;
  try {
    response = await fetch(`/api/${path}`, { ...init, headers, cache: 'no-store' });
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    throw new Refusal(0, 'edgeproof cannot be reached; it may have ended');
  }
  if (response.ok) return response;
  const refused = (await response.json().catch(() => null)) as Refused | null;
  throw new Refusal(
    response.status,
    refused?.message ?? `the server answered ${response.status}`,
    refused?.diagnostics,
  );
}

/** Throws Refusal. */
export async function get<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
  return (await answerTo(path, signal ? { signal } : {})).json() as Promise<Answer>;
}

/** Throws Refusal. */
export async function send<Answer>(
  method: 'POST' | 'PUT',
  path: string,
  content: object,
  signal?: AbortSignal,
): Promise<Answer> {
  const init = { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(content) };
  return (await answerTo(path, signal ? { ...init, signal } : init)).json() as Promise<Answer>;
}

/**
 * Reads the feed until it ends or is aborted; `EventSource` cannot send the token. Throws Refusal.
 * `onEvent` gets the cursor after each event, with which a later feed continues.
 */
export async function readFeed(
  query: URLSearchParams,
  onEvent: (event: FeedEvent, cursor: string | null) => void,
  signal: AbortSignal,
): Promise<void> {
  const response = await answerTo(`feed?${query.toString()}`, { signal });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const blocks = eventBlocks();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read())
    for (const { data, id } of blocks(piece.value)) onEvent(JSON.parse(data) as FeedEvent, id);
}

interface Block {
  readonly data: string;
  readonly id: string | null;
}

/** Cuts a stream of server-sent events into its events (HTML, 9.2.6); comments have no data and are left out. */
export function eventBlocks(): (text: string) => readonly Block[] {
  let rest: string[] = [];
  return (text) => {
    // Pieces are joined once, when an event ends: a long event arrives in many pieces.
    rest.push(text);
    if (!text.includes('\n')) return [];
    const parts = rest.join('').split('\n\n');
    rest = [parts.pop()!];
    return parts.flatMap((part) => {
      const lines = part.split('\n');
      const valuesOf = (name: string): string[] =>
        lines
          .filter((line) => line.startsWith(`${name}:`))
          .map((line) => line.slice(name.length + 1).replace(/^ /, ''));
      const data = valuesOf('data');
      return data.length === 0 ? [] : [{ data: data.join('\n'), id: valuesOf('id').at(-1) ?? null }];
    });
  };
}
