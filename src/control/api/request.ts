import type { ArrivedRequest } from './contract.ts';
import { pointerTo } from '../../diagnostics/diagnostic.ts';
import { ApiProblem, COMMON, refusedValue } from '../resources/problem.ts';
import { jsonProblem } from './json_problem.ts';

const BODY_LIMIT_BYTES = 4 * 1024 * 1024;
const PAGE_LIMIT = 100;

/** The parameters of a list request. */
export interface PageQuery {
  readonly limit: number;
  readonly beforeId: string | undefined;
  readonly filter: string | undefined;
  /** Values of properties, one of which an object must have. */
  readonly chosen: readonly (readonly [property: string, value: string])[];
}

/** What a body may have at most. */
interface BodyLimits {
  /** Default 4 MiB. */
  readonly bytes?: number | undefined;
  /** Members and elements on all levels; default 10,000. */
  readonly values?: number;
}

/** Reads the JSON body of a request; throws the documented errors. */
export async function jsonBody(
  request: ArrivedRequest,
  { bytes: limitBytes = BODY_LIMIT_BYTES, values = VALUE_LIMIT }: BodyLimits = {},
): Promise<unknown> {
  const type = request.field('content-type');
  if (!hasBody(request)) throw new ApiProblem(400, 213, 'The request has no body; send a JSON object.');
  if (type === null) throw new ApiProblem(415, 216, 'The request has a body, but no Content-Type.');
  if (!/^application\/(?:[\w.+-]+\+)?json *(?:;|$)/i.test(type)) {
    throw new ApiProblem(415, 210, `The Content-Type '${type}' is not supported; use application/json.`);
  }
  const coding = request.field('content-encoding') ?? 'identity';
  if (!/^(?:identity)?$/i.test(coding)) {
    throw new ApiProblem(415, 210, `The Content-Encoding '${coding}' is not supported; send plain JSON.`);
  }
  const bytes = await bodyBytes(request, limitBytes);
  if (bytes.length === 0) throw new ApiProblem(400, 213, 'The body is empty; send a JSON object.');
  const value = parsed(bytes);
  checkShape(value, [], { left: values, limit: values });
  return value;
}

function parsed(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ApiProblem(400, 213, 'The body is not valid JSON: it is not UTF-8.');
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ApiProblem(400, 213, `The body is not valid JSON: ${jsonProblem(text, error as SyntaxError)}.`);
  }
}

/** Maximum nesting depth; resources need about a dozen levels. */
const DEPTH_LIMIT = 100;

/** Maximum number of values, because each costs time: no resource needs more than some hundreds. */
const VALUE_LIMIT = 10_000;

/**
 * Refuses bodies that later code cannot process safely: nesting that would exhaust the stack, keys that would set a
 * prototype, and more values than the limit. `path` is the path of the value; it is unchanged on return.
 */
function checkShape(value: unknown, path: string[], count: { left: number; readonly limit: number }): void {
  if (typeof value !== 'object' || value === null) return;
  if (path.length >= DEPTH_LIMIT) {
    throw new ApiProblem(400, 213, `The body is nested deeper than ${DEPTH_LIMIT} levels.`);
  }
  if (Object.hasOwn(value, '__proto__')) {
    throw refusedValue(COMMON.unknownField, [...path, '__proto__'].reduce(pointerTo, ''), NO_PROTOTYPE);
  }
  const keys = Object.keys(value);
  count.left -= keys.length;
  if (count.left < 0) throw new ApiProblem(413, 812, `The body has more than ${count.limit} values.`);
  for (const key of keys) {
    path.push(key);
    checkShape((value as Readonly<Record<string, unknown>>)[key], path, count);
    path.pop();
  }
}

const NO_PROTOTYPE = "The key '__proto__' is not allowed.";

export function hasBody({ field }: ArrivedRequest): boolean {
  const length = field('content-length');
  return length === null ? field('transfer-encoding') !== null : Number(length) > 0;
}

async function bodyBytes({ field, body }: ArrivedRequest, limitBytes: number): Promise<Uint8Array> {
  const tooLarge = new ApiProblem(413, 812, `The body is larger than ${limitBytes} bytes.`);
  if (Number(field('content-length') ?? 0) > limitBytes) throw tooLarge;
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body) {
    bytes += part.length;
    if (bytes > limitBytes) throw tooLarge;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Refuses a body if the method has none. A Content-Type alone is not a body; some clients always send it. */
export async function noBody(request: ArrivedRequest): Promise<void> {
  if (hasBody(request)) throw new ApiProblem(400, 211, `A ${request.method} request must not have a body.`);
}

/**
 * Parses the query of a list: `limit`, `before_id` (or `beforeId`, which one client sends), `filter`, and names
 * of properties that can be chosen by value, which may be repeated.
 */
export function pageQuery(url: URL, prefix: string, choices: readonly string[] = []): PageQuery {
  const query = queryOf(url, ['limit', 'before_id', 'beforeId', 'filter'], choices);
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
  return {
    limit: limit === undefined ? PAGE_LIMIT : limitOf(limit),
    beforeId,
    filter: query.get('filter'),
    chosen: [...url.searchParams].filter(([name]) => choices.includes(name)),
  };
}

/** Parses the query; refuses unknown parameters, and repeated ones unless they are `repeatable`. */
export function queryOf(
  url: URL,
  known: readonly string[],
  repeatable: readonly string[] = [],
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of url.searchParams) {
    const parameter = { parameter: name };
    if (!known.includes(name) && !repeatable.includes(name)) {
      throw new ApiProblem(400, 231, `The query parameter '${name}' is unknown.`, parameter);
    }
    if (found.has(name) && !repeatable.includes(name))
      throw new ApiProblem(400, 232, `The query parameter '${name}' occurs twice.`, parameter);
    found.set(name, value);
  }
  return found;
}

/** Whether a parameter that is `true` or `false` is set; anything else is refused. */
export function isSet(query: ReadonlyMap<string, string>, parameter: string): boolean {
  const text = query.get(parameter) ?? 'false';
  if (text === 'true' || text === 'false') return text === 'true';
  const message = `The query parameter '${parameter}' must be true or false, not '${text}'.`;
  throw new ApiProblem(400, COMMON.badValue, message, { parameter });
}

function limitOf(text: string): number {
  const parameter = { parameter: 'limit' };
  if (!/^-?\d+$/.test(text))
    throw new ApiProblem(400, 244, `The limit '${text}' is not a number.`, parameter);
  const limit = Number(text);
  if (limit < 1 || limit > PAGE_LIMIT) {
    throw new ApiProblem(400, 233, `The limit must be from 1 to ${PAGE_LIMIT}.`, parameter);
  }
  return limit;
}
