import { allValues, firstValue } from '../../../http/fields.ts';
import { lookUp } from '../../../cel/equality.ts';
import {
  type CallWith,
  type FunctionRow,
  type Overload,
  func,
  overloadWith,
} from '../../../cel/function_table.ts';
import { BOOL, STRING, type Type, list } from '../../../cel/types.ts';
import { type EvalError, type Outcome, type Value, fail } from '../../../cel/values.ts';
import type { Activation } from '../activation.ts';
import { COOKIE, SET_COOKIE, requestCookie } from '../cookies.ts';

type ByName = (activation: Activation, name: string) => Outcome;

/** `f(name)`; a constant name is prepared once. */
function byName(
  id: string,
  result: Type,
  read: ByName,
  prepare = (name: string): string => name,
): readonly Overload<Activation>[] {
  const callWith: CallWith<Activation> = (activation, name) => read(activation, prepare(name as string));
  return [
    overloadWith({
      id,
      style: 'global',
      params: [STRING],
      result,
      callWith,
      specialise: ([name]) => {
        if (typeof name !== 'string') return undefined;
        const prepared = prepare(name);
        return { callWith: (activation: Activation) => read(activation, prepared) };
      },
    }),
  ];
}

const lower = (name: string): string => name.toLowerCase();

function firstOf(cookies: Value | undefined): Value | undefined {
  return Array.isArray(cookies) ? (cookies as readonly Value[])[0] : undefined;
}

function noCookie(name: string, where: string): EvalError {
  return fail('expr.absent', `the ${where} has no cookie '${name}'`);
}

/** Functions that read the request; also available in the response phase. */
export const REQUEST_FUNCTIONS: readonly FunctionRow<Activation>[] = [
  func(
    'hasReqHeader',
    'Whether the request has a header field; the name is case-insensitive.',
    "hasReqHeader('Host')",
    byName('has_req_header', BOOL, (a, name) => firstValue(a.shownFields, name) !== undefined, lower),
    { map: 'req.headers', role: 'test' },
  ),
  func(
    'getReqHeader',
    'The values of a request header field, empty if it is missing; never an error.',
    "getReqHeader('X-Team') == ['blue', 'green']",
    byName('get_req_header', list(STRING), (a, name) => allValues(a.shownFields, name), lower),
    { map: 'req.headers', role: 'list', foldsCase: true },
  ),
  func(
    'hasQueryParam',
    'Whether the query has a parameter.',
    "hasQueryParam('page')",
    byName('has_query_param', BOOL, (a, name) => lookUp(a.url.queryParams, name) !== undefined),
    { map: 'req.url.query_params', role: 'test' },
  ),
  func(
    'getQueryParam',
    'The values of a query parameter, empty if it is missing; never an error.',
    "getQueryParam('tag') == ['a b', 'c']",
    byName('get_query_param', list(STRING), (a, name) => lookUp(a.url.queryParams, name) ?? []),
    { map: 'req.url.query_params', role: 'list' },
  ),
  func(
    'hasReqCookie',
    'Whether the request has a cookie.',
    "hasReqCookie('lane')",
    byName('has_req_cookie', BOOL, (a, name) => requestCookie(a.shownFields, name) !== undefined),
    { map: 'req.cookies', role: 'test' },
  ),
  func(
    'getReqCookie',
    'The first cookie with a name: a string (its value) with fields such as name and value. An error if it is missing.',
    "getReqCookie('lane') == 'beta' && getReqCookie('lane').name == 'lane'",
    byName(
      'get_req_cookie',
      COOKIE,
      (a, name) => requestCookie(a.shownFields, name) ?? noCookie(name, 'request'),
    ),
    { map: 'req.cookies', role: 'read' },
  ),
];

/** Functions that read the response. */
export const RESPONSE_FUNCTIONS: readonly FunctionRow<Activation>[] = [
  func(
    'hasResHeader',
    'Whether the response has a header field; the name is case-insensitive.',
    "hasResHeader('Content-Type')",
    byName('has_res_header', BOOL, (a, name) => firstValue(a.response.headers, name) !== undefined, lower),
    { map: 'res.headers', role: 'test' },
  ),
  func(
    'getResHeader',
    'The values of a response header field, empty if it is missing; never an error.',
    "getResHeader('content-type') == ['text/html; charset=utf-8']",
    byName('get_res_header', list(STRING), (a, name) => allValues(a.response.headers, name), lower),
    { map: 'res.headers', role: 'list', foldsCase: true },
  ),
  func(
    'hasResCookie',
    'Whether the response sets a cookie.',
    "hasResCookie('session')",
    byName('has_res_cookie', BOOL, (a, name) => lookUp(a.responseCookies, name) !== undefined),
    { map: 'res.cookies', role: 'test' },
  ),
  func(
    'getResCookie',
    'The cookie with a name and the longest path: a string (its value) with fields. An error if it is missing.',
    "getResCookie('session').secure && getResCookie('session').path == '/app'",
    byName(
      'get_res_cookie',
      SET_COOKIE,
      (a, name) => firstOf(lookUp(a.responseCookies, name)) ?? noCookie(name, 'response'),
    ),
    { map: 'res.cookies', role: 'read' },
  ),
];
