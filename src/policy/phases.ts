import { EXCHANGE_BUDGET } from '../cel/limits.ts';
import {
  ask,
  type Connection,
  type RequestHead,
  type ResponseHead,
  type Verdict,
  type World,
  type Ask,
} from '../engine/contract.ts';
import { headersEdit } from '../engine/edits.ts';
import { Activation } from './env/activation.ts';
import type { CompiledPolicy } from './compiled.ts';
import { type FilterData, runLogin, runPhase } from './run.ts';
import { DISABLED, NO_RULE } from './verdicts.ts';
import type { PolicyState } from '../filters/policy_run.ts';

/** Runs `on_tcp_connect`: on a connection of a TCP or TLS edge, before any data is read. */
export function runConnect(
  policy: CompiledPolicy,
  connection: Connection,
  state: PolicyState | null,
  world: World,
): Verdict | Ask {
  if (!policy.enabled) return DISABLED;
  if (policy.connect === null) return NO_RULE;
  const activation = new Activation(world, policy.context.surroundings(null), connection);
  activation.unitsLeft = EXCHANGE_BUDGET;
  return runPhase(policy.connect, activation, null, connection, state, world);
}

/** Runs `on_http_request`. `filterData` is that of the connection's verdict, if any: its results are kept. */
export function runRequest(
  policy: CompiledPolicy,
  request: RequestHead,
  connection: Connection,
  state: PolicyState | null,
  world: World,
  filterData?: unknown,
): Verdict | Ask {
  if (!policy.enabled) return DISABLED;
  if (policy.request === null) return NO_RULE;
  const activation = activationOf(policy, request, connection, world);
  if (filterData !== undefined) activation.results = (filterData as FilterData).activation.results;
  const { login } = policy.request;
  if (login !== null && request.path.startsWith(login.base))
    return runLogin(policy.request, login, activation, request, connection, state, world);
  return runPhase(policy.request, activation, request, connection, state, world);
}

/**
 * Runs `on_http_response`. `filterData` is that of the request phase's verdict: results of its actions are kept, its
 * variables are not (`vars` belong to one phase).
 */
export function runResponse(
  policy: CompiledPolicy,
  response: ResponseHead,
  request: RequestHead,
  connection: Connection,
  world: World,
  filterData: unknown,
): Verdict | Ask {
  if (!policy.enabled) return DISABLED;
  const carried = filterData as FilterData | undefined;
  const cookies = carried?.cookies ?? null;
  if (policy.response === null) return cookies === null ? NO_RULE : withCookies(NO_RULE, cookies);
  const activation = carried?.activation ?? activationOf(policy, request, connection, world);
  activation.enterPhase(response);
  const verdict = runPhase(policy.response, activation, request, connection, null, world);
  return cookies === null ? verdict : withCookies(verdict, cookies);
}

/**
 * The request as expressions see it. Identity fields from the client are removed, because a client cannot prove who it
 * is; those set by a previous edge are kept.
 */
function activationOf(
  { context }: CompiledPolicy,
  request: RequestHead,
  connection: Connection,
  world: World,
): Activation {
  const { headers } = request;
  const believed = connection.hops === undefined ? context.branding.withoutIdentity(headers) : headers;
  const seen = believed === headers ? request : { ...request, headers: believed };
  const activation = new Activation(world, context.surroundings(request), connection, seen);
  activation.unitsLeft = EXCHANGE_BUDGET;
  return activation;
}

/** Sets the cookies of a login in the final response, whatever it is. */
function withCookies(verdict: Verdict | Ask, cookies: readonly string[]): Verdict | Ask {
  if (verdict.verdict === 'ask') {
    const { question, resume } = verdict;
    return ask(question, (answer) => withCookies(resume(answer), cookies));
  }
  const fields = cookies.flatMap((cookie) => ['set-cookie', cookie]);
  if (verdict.verdict === 'pass')
    return { ...verdict, edits: [...(verdict.edits ?? []), headersEdit('response', [], fields)] };
  const { response } = verdict;
  return { ...verdict, response: { ...response, headers: [...response.headers, ...fields] } };
}
