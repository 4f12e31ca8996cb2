import { ApiProblem } from '../resources/problem.ts';

const BODY_LIMIT_BYTES = 4 * 1024 * 1024;
const PAGE_LIMIT = 100;

/** A page that a list was asked for. */
export interface PageQuery {
  readonly limit: number;
  readonly beforeId: string | undefined;
  readonly filter: string | undefined;
}

/** Reads the JSON body of a request; throws the documented refusals. */
export async function jsonBody(request: Request, limitBytes = BODY_LIMIT_BYTES): Promise<unknown> {
  const type = request.headers.get('content-type');
  if (type === null) throw new ApiProblem(415, 216, 'The request has a body, but no Content-Type.');
  if (!/^application\/(?:[\w.+-]+\+)?json *(?:;|$)/i.test(type)) {
    throw new ApiProblem(
      415,
      210,
      `The Content-Type '${type}' is not supported; it has to be application/json.`,
    );
  }
  const bytes = await bodyBytes(request, limitBytes);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown;
  } catch {
    throw new ApiProblem(400, 213, 'The body is not valid JSON.');
  }
}

async function bodyBytes(request: Request, limitBytes: number): Promise<Uint8Array> {
  const tooLarge = new ApiProblem(413, 812, `The body is larger than ${limitBytes} bytes.`);
  if (Number(request.headers.get('content-length') ?? 0) > limitBytes) throw tooLarge;
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of request.body ?? []) {
    const chunk = part as Uint8Array;
    bytes += chunk.length;
    if (bytes > limitBytes) throw tooLarge;
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}

/** Refuses a body where the method takes none. Clients send a Content-Type with every request: that alone is no body. */
export async function noBody(request: Request): Promise<void> {
  const length = request.headers.get('content-length');
  const hasBody = length === null ? request.headers.has('transfer-encoding') : Number(length) > 0;
  if (hasBody) throw new ApiProblem(400, 211, `A ${request.method} request takes no body.`);
}

/** Reads the query of a list: `limit`, `before_id` (or `beforeId`, as one client spells it) and `filter`. */
export function pageQuery(url: URL, prefix: string): PageQuery {
  const query = queryOf(url, ['limit', 'before_id', 'beforeId', 'filter']);
  const limit = query.get('limit');
  const beforeId = query.get('before_id') ?? query.get('beforeId') ?? undefined;
  if (query.has('before_id') && query.has('beforeId')) {
    throw new ApiProblem(400, 232, 'before_id and beforeId are the same parameter; send one of them.');
  }
  if (beforeId !== undefined && !beforeId.startsWith(`${prefix}_`)) {
    throw new ApiProblem(400, 227, `'${beforeId}' is not an id with the prefix ${prefix}_.`, {
      parameter: 'before_id',
    });
  }
  return { limit: limit === undefined ? PAGE_LIMIT : limitOf(limit), beforeId, filter: query.get('filter') };
}

/** Refuses every query parameter but those known; each may stand once. */
export function queryOf(url: URL, known: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of url.searchParams) {
    const parameter = { parameter: name };
    if (!known.includes(name)) {
      throw new ApiProblem(400, 231, `There is no query parameter '${name}' here.`, parameter);
    }
    if (found.has(name))
      throw new ApiProblem(400, 232, `The query parameter '${name}' stands twice.`, parameter);
    found.set(name, value);
  }
  return found;
}

function limitOf(text: string): number {
  const parameter = { parameter: 'limit' };
  if (!/^-?\d+$/.test(text))
    throw new ApiProblem(400, 244, `The limit '${text}' is not a number.`, parameter);
  const limit = Number(text);
  if (limit < 1 || limit > PAGE_LIMIT) {
    throw new ApiProblem(400, 233, `The limit has to be from 1 to ${PAGE_LIMIT}.`, parameter);
  }
  return limit;
}
