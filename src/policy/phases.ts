import type { Ask, Connection, RequestHead, ResponseHead, Verdict, World } from '../engine/contract.ts';
import { Activation } from '../expression/vocabulary/activation.ts';
import type { CompiledPolicy } from './compiled.ts';
import { type Carry, runPhase } from './run.ts';
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
  if (policy.response === null) return NO_RULE;
  const carried = carry as Carry | undefined;
  const activation =
    carried?.activation ?? new Activation(world, policy.context.surroundings(request), connection, request);
  activation.enterPhase(response);
  return runPhase(policy.response, activation, request, connection, null, world);
}
