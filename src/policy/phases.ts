import { ask } from '../engine/contract.ts';
import type { Ask, Connection, RequestHead, ResponseHead, Verdict, World } from '../engine/contract.ts';
import { headersEdit } from '../engine/edits.ts';
import { Activation } from '../expression/vocabulary/activation.ts';
import type { CompiledPolicy } from './compiled.ts';
import { type Carry, runLogin, runPhase } from './run.ts';
import { DISABLED, NO_RULE } from './verdicts.ts';
import type { PolicyState } from './walk.ts';

/** Runs `on_tcp_connect`: on a connection of a TCP or TLS edge, before any byte is read. */
export function runConnect(
  policy: CompiledPolicy,
  connection: Connection,
  state: PolicyState | null,
  world: World,
): Verdict | Ask {
  if (!policy.enabled) return DISABLED;
  if (policy.connect === null) return NO_RULE;
  const activation = new Activation(world, policy.context.surroundings(null), connection);
  return runPhase(policy.connect, activation, null, connection, state, world);
}

/** Runs `on_http_request`. `carry` is that of the connection's verdict, where one was made: its results stay. */
export function runRequest(
  policy: CompiledPolicy,
  request: RequestHead,
  connection: Connection,
  state: PolicyState | null,
  world: World,
  carry?: unknown,
): Verdict | Ask {
  if (!policy.enabled) return DISABLED;
  if (policy.request === null) return NO_RULE;
  const activation = new Activation(world, policy.context.surroundings(request), connection, request);
  if (carry !== undefined) activation.results = (carry as Carry).activation.results;
  const { login } = policy.request;
  if (login !== null && request.path.startsWith(login.base))
    return runLogin(policy.request, login, activation, request, connection, state, world);
  return runPhase(policy.request, activation, request, connection, state, world);
}

/**
 * Runs `on_http_response`. `carry` is that of the request phase's verdict: results of its actions are still
 * there, its variables are not (`vars` live for one phase).
 */
export function runResponse(
  policy: CompiledPolicy,
  response: ResponseHead,
  request: RequestHead,
  connection: Connection,
  world: World,
  carry: unknown,
): Verdict | Ask {
  if (!policy.enabled) return DISABLED;
  const carried = carry as Carry | undefined;
  const cookies = carried?.cookies ?? null;
  if (policy.response === null) return cookies === null ? NO_RULE : withCookies(NO_RULE, cookies);
  const activation =
    carried?.activation ?? new Activation(world, policy.context.surroundings(request), connection, request);
  activation.enterPhase(response);
  const verdict = runPhase(policy.response, activation, request, connection, null, world);
  return cookies === null ? verdict : withCookies(verdict, cookies);
}

/** Sets the cookies of a login in whatever response there is in the end. */
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
