import { pointerTo } from '../../diagnostics/diagnostic.ts';
import type { Handler, RequestHead, Stop } from '../../engine/contract.ts';
import type { Linked } from '../../engine/module.ts';
import { NO_FACTS } from '../../expression/vocabulary/facts.ts';
import type { Surroundings } from '../../expression/vocabulary/inputs.ts';
import type { PolicyContext } from '../../policy/action.ts';
import { compilePolicy } from '../../policy/compile.ts';
import { conclude } from '../../policy/conclude.ts';
import { checkCarriedPolicy } from '../../policy/document/check.ts';
import { loginPaths } from '../../policy/login.ts';
import { runConnect, runRequest, runResponse } from '../../policy/phases.ts';
import type { PolicyCode } from '../../policy/verdicts.ts';
import type { PolicyState } from '../../policy/walk.ts';
import type { PolicyLinks } from './links.ts';
import type { TrafficPolicyConfig } from './schema.ts';

/** Makes the handler of a policy. */
export function compileTrafficPolicy(config: TrafficPolicyConfig, linked: Linked & PolicyLinks): Handler {
  const { naming, carriedBy = 'https_edge' } = linked;
  const pointer = pointerTo(linked.pointer, 'value');
  const { value } = config;
  const carried = {
    file: { name: pointer, text: value },
    pointer,
    span: { start: 0, end: value.length },
    text: value,
  };
  const { document, diagnostics } = checkCarriedPolicy(carried, { naming, carriedBy });
  if (document === null) return refuseAll(linked, diagnostics[0]?.says ?? 'the policy cannot be read');
  const policy = compilePolicy(document, contextOf(linked));
  const { initial } = policy;
  const login = policy.request?.login ?? null;
  const handler: Handler<PolicyState | null> = {
    reserves: login === null ? [] : loginPaths(naming.service),
    onConnection: (connection, state, world) => runConnect(policy, connection, state, world),
    onRequest: (request, connection, state, world) => runRequest(policy, request, connection, state, world),
    ...(policy.response === null && login === null
      ? {}
      : {
          onResponse: (response, request, connection, world, carry) =>
            runResponse(policy, response, request, connection, world, carry),
        }),
    ...(initial === null
      ? {}
      : { initial, reduce: (state, happening, world) => conclude(state!, happening, world) }),
  };
  return handler;
}

/** A policy that was not checked before it came here guards nothing: nobody passes. */
function refuseAll({ refusal, pointer }: Linked, says: string): Handler {
  const stop: Stop<PolicyCode> = {
    verdict: 'stop',
    because: { code: 'traffic_policy.failed', detail: { says }, pointer },
    response: refusal(500, 2236, 'The traffic policy of this endpoint cannot be read'),
  };
  return { onConnection: () => stop, onRequest: () => stop };
}

function contextOf(linked: Linked & PolicyLinks): PolicyContext {
  const { naming, ipPolicy, refusal } = linked;
  return {
    naming,
    ipPolicy,
    refusal,
    surroundings: surroundingsOf(linked),
    isInternal: linked.isInternal ?? (() => false),
    allowPrivateFetch: linked.allowPrivateFetch ?? false,
    passUnsimulated: linked.passUnsimulated ?? false,
    trace: linked.trace ?? 'decided',
    ...(linked.watch && { watch: linked.watch }),
    ...(linked.logins && { logins: { ...linked.logins, edge: linked.edge ?? '' } }),
  };
}

const USUAL_PORT = { http: 80, https: 443 } as const;
const NO_HOST: NonNullable<PolicyLinks['endpoint']> = { host: '', port: USUAL_PORT.https, protocol: 'https' };

/** An edge has many hosts: the endpoint is the one that was asked for. The last one is kept, requests come in rows. */
function surroundingsOf(linked: Linked & PolicyLinks): PolicyContext['surroundings'] {
  const { endpointId: id = linked.pointer, facts = NO_FACTS, secret = () => undefined } = linked;
  const make = (host: string, protocol: 'http' | 'https'): Surroundings => ({
    endpoint: { id, host, port: USUAL_PORT[protocol], protocol },
    facts,
    secret,
  });
  let last: Surroundings = { endpoint: { id, ...(linked.endpoint ?? NO_HOST) }, facts, secret };
  return (request: RequestHead | null) => {
    if (request === null) return last;
    const { endpoint } = last;
    if (endpoint.host !== request.host || endpoint.protocol !== request.scheme)
      last = make(request.host, request.scheme);
    return last;
  };
}
