import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { Handler, RequestHead, Stop, StateEvent, World, HandlerPart } from '../engine/contract.ts';
import type { Linked } from '../engine/module.ts';
import type { Steps } from '../config_file/steps.ts';
import { type Facts, NO_FACTS } from './env/facts.ts';
import type { Surroundings } from './env/inputs.ts';
import type { PolicyContext } from '../filters/action.ts';
import { policyCompilation } from './compile.ts';
import type { CompiledPhase, CompiledPolicy } from './compiled.ts';
import type { CheckedPolicy } from './document/check.ts';
import { readAgain, takeDocument } from './document/checked_policies.ts';
import { ACTION_FACTS } from '../filters/table.ts';
import { runConnect, runRequest, runResponse } from './phases.ts';
import type { PolicyCode } from './verdicts.ts';
import type { PolicyState } from '../filters/policy_run.ts';
import type { TrafficPolicyConfig } from './module_schema.ts';
import type { FilterData } from './run.ts';

/** Creates the handler of a policy, with pauses. */
export function* trafficPolicyCompilation(
  config: TrafficPolicyConfig,
  linked: Linked & PolicyLinks,
): Steps<Handler> {
  const { attachedTo = 'https_edge' } = linked;
  const { document, diagnostics } = yield* checkedPolicy(config, linked, attachedTo);
  if (document === null) return refuseAll(linked, diagnostics[0]?.message ?? 'the policy cannot be read');
  const policy = yield* policyCompilation(document, contextOf(linked));
  const { initial, concluded } = policy;
  const login = policy.request?.login ?? null;
  const handler: Handler<PolicyState | null> = {
    parts: partsOf(policy),
    reserves: policy.request === null ? [] : reservedBy(policy.request),
    onConnection: (connection, state, world) => runConnect(policy, connection, state, world),
    onRequest: (request, connection, state, world) => runRequest(policy, request, connection, state, world),
    ...(policy.response === null && login === null
      ? {}
      : {
          onResponse: (response, request, connection, world, filterData) =>
            runResponse(policy, response, request, connection, world, filterData),
        }),
    ...(initial === null ? {} : { initial }),
    ...(concluded === null
      ? {}
      : { reduce: (state, event, world) => conclude(concluded, state!, event, world) }),
  };
  return handler;
}

/** The paths that the login of a policy answers itself, on all routes of its edge. */
function reservedBy({ login, rules }: CompiledPhase): readonly string[] {
  if (login === null) return [];
  const { type } = rules[login.rule]!.actions[login.action]!;
  const { ofBrowsers = [], ofProviders = [] } = ACTION_FACTS.get(type)!.gatePaths ?? {};
  return [...ofBrowsers, ...ofProviders].map((path) => login.base + path);
}

function partsOf({ connect, request, response }: CompiledPolicy): readonly HandlerPart[] {
  return [connect, request, response].flatMap(
    (phase) => phase?.rules.flatMap(({ actions }) => actions) ?? [],
  );
}

/** The document from the check that accepted the configuration; it is parsed again if there is none for this place. */
function* checkedPolicy(
  config: TrafficPolicyConfig,
  { pointer, branding }: Linked,
  attachedTo: NonNullable<PolicyLinks['attachedTo']>,
): Steps<CheckedPolicy> {
  const at = pointerTo(pointer, 'value');
  const document = yield* takeDocument(config, { at, attachedTo, service: branding.service });
  if (document !== null) return { document, diagnostics: [] };
  return readAgain(config, { at, attachedTo, branding });
}

/** A policy that was not checked cannot guard anything, so all requests are refused. */
function refuseAll({ refusal, pointer }: Linked, message: string): Handler {
  const stop: Stop<PolicyCode> = {
    verdict: 'stop',
    reason: { code: 'traffic_policy.failed', detail: { message }, pointer },
    response: refusal(500, 2236, 'The traffic policy of this endpoint cannot be read'),
  };
  return { onConnection: () => stop, onRequest: () => stop };
}

function contextOf(linked: Linked & PolicyLinks): PolicyContext {
  const { branding, ipPolicy, authorityPem, refusal } = linked;
  return {
    branding,
    ipPolicy,
    refusal,
    ...(authorityPem && { authorityPem }),
    surroundings: surroundingsOf(linked),
    isInternal: linked.isInternal ?? (() => false),
    isInternalAddress: linked.isInternalAddress ?? (() => false),
    allowPrivateFetch: linked.allowPrivateFetch ?? false,
    passUnsimulated: linked.passUnsimulated ?? false,
    trace: linked.trace ?? 'decided',
    ...(linked.watch && { watch: linked.watch }),
    ...(linked.logins && { logins: { ...linked.logins, edge: linked.edge ?? '' } }),
  };
}

const USUAL_PORT = { http: 80, https: 443 } as const;
const NO_HOST: NonNullable<PolicyLinks['endpoint']> = { host: '', port: USUAL_PORT.https, protocol: 'https' };

/**
 * An edge has many hosts: the endpoint is the requested one. The last one is cached, because consecutive requests often
 * share it.
 */
function surroundingsOf(linked: Linked & PolicyLinks): PolicyContext['surroundings'] {
  const { endpointId: id = linked.pointer, facts = NO_FACTS, secret = () => undefined } = linked;
  const cookies = linked.logins?.registry.cookies;
  const kept = { facts, secret, ...(cookies && { cookies }) };
  const make = (host: string, protocol: 'http' | 'https'): Surroundings => ({
    endpoint: { id, host, port: USUAL_PORT[protocol], protocol },
    ...kept,
  });
  let last: Surroundings = { endpoint: { id, ...(linked.endpoint ?? NO_HOST) }, ...kept };
  return (request: RequestHead | null) => {
    if (request === null) return last;
    const { endpoint } = last;
    if (endpoint.host !== request.host || endpoint.protocol !== request.scheme)
      last = make(request.host, request.scheme);
    return last;
  };
}

/**
 * Reports the outcome of a request to the cells that wait for it. A request that the policy stopped later never reached
 * the upstream and is neutral.
 */
function conclude(
  concluded: NonNullable<CompiledPolicy['concluded']>,
  state: PolicyState,
  event: StateEvent,
  world: World,
): void {
  const { verdict } = event;
  const { awaited } = (verdict.filterData as FilterData | undefined) ?? { awaited: null };
  if (awaited === null) return;
  const goesNowhere = verdict.verdict === 'stop' && verdict.forward === undefined;
  if (event.kind === 'decided' && !goesNowhere) return;
  const outcome = event.kind === 'concluded' ? event.outcome : 'cancelled';
  for (const { cell, serial } of awaited) concluded[cell]!(state.cells[cell], serial, outcome, world);
}

/** What a policy may know about its surroundings, beyond the links of all modules. Omitted parts are unknown. */
export interface PolicyLinks {
  readonly endpointId?: string;
  /** The kind of endpoint; default an HTTPS edge. */
  readonly attachedTo?: 'https_edge' | 'tls_edge' | 'tcp_edge';
  /** The endpoint of a TLS or TCP edge, which no request names. */
  readonly endpoint?: Pick<Surroundings['endpoint'], 'host' | 'port' | 'protocol'>;
  readonly facts?: Facts;
  readonly secret?: Surroundings['secret'];
  readonly isInternal?: PolicyContext['isInternal'];
  readonly isInternalAddress?: PolicyContext['isInternalAddress'];
  readonly allowPrivateFetch?: boolean;
  readonly passUnsimulated?: boolean;
  readonly trace?: PolicyContext['trace'];
  readonly watch?: PolicyContext['watch'];
  readonly logins?: Omit<NonNullable<PolicyContext['logins']>, 'edge'>;
}
