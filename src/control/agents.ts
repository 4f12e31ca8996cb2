import { equalTexts } from '../crypto/digest.ts';
import type { IssuedCertificate } from '../crypto/issue_certificate.ts';
import { agentSessionObject } from '../events/agent_session.ts';
import { isInternalHost } from '../edge/document/internal_hosts.ts';
import { reportFault } from '../io/containment.ts';
import { Agents } from '../tunnel/agents.ts';
import type { Admitted, SessionEvent } from '../tunnel/online_sessions.ts';
import type { BindRequest } from '../tunnel/binding/bind_request.ts';
import type { Refusal } from '../tunnel/binding/members.ts';
import { wholeSeconds } from '../events/timestamps.ts';
import type { AddressRules, Online, Wiring } from './api/contract.ts';
import { isAddressAllowed } from './api/restriction.ts';
import { onlineAgents } from './online_agents.ts';
import { reservedDomainOf } from './resources/addresses.ts';
import type { Body } from './resources/contract.ts';
import { REGION, ingressDomain } from './resources/agent_ingresses.ts';
import { TOKEN, tokenHash } from './resources/accounts.ts';
import { refTo } from './resources/present.ts';
import type { Store, View } from './store/port.ts';

/**
 * The managed certificate of the agent ingress with this host; null if there is no such ingress, or it has no
 * certificate.
 */
export async function ingressCertificate(store: Store, host: string): Promise<IssuedCertificate | null> {
  const domain = ingressDomain(host);
  if (domain === null) return null;
  return store.read(async (view) => {
    const id = await view.claimant({ space: 'ingress', value: domain });
    const ingress = id === null ? null : await view.get(id);
    return (ingress?.body['issued'] as IssuedCertificate | undefined) ?? null;
  });
}

/** The agents of an account: their credentials are objects of the store. */
export interface AccountAgents {
  readonly agents: Agents;
  readonly online: Online;
  /** Resolves when all events of sessions so far have been stored. */
  readonly recorded: () => Promise<void>;
  /** Ids of the online tunnels that carry all labels. */
  readonly tunnelsWith: (labels: Readonly<Record<string, string>>) => readonly string[];
  /** Ends the sessions of credentials that were deleted. */
  readonly revoked: (ids: readonly string[]) => void;
  /** Applies written credentials, and ends the sessions of owners that were deactivated. */
  readonly written: (ids: readonly string[], view?: View) => Promise<void>;
}

export interface AccountAgentsOptions {
  /** Whether domains and addresses of endpoints must be reserved. */
  readonly reservedOnly: boolean;
}

type Surroundings = Pick<
  Wiring,
  'accountId' | 'nowMs' | 'newId' | 'deliveries' | 'subscribers' | 'areAllowing'
> & {
  readonly service: string;
  /** Where the API is, for uris in events. */
  readonly base: () => string;
};

export function accountAgents(
  store: Store,
  { reservedOnly }: AccountAgentsOptions,
  surroundings: Surroundings,
): AccountAgents {
  const { service, nowMs, newId } = surroundings;
  let recorded: Promise<void> = Promise.resolve();
  const agents = new Agents({
    nowMs,
    newId,
    admit: (token, address) => store.read((view) => admit(token, address, view, surroundings.areAllowing)),
    ...(reservedOnly && { refuseAddress: (bind) => store.read((view) => refuseUnreserved(bind, view)) }),
    onSession: (event) => {
      recorded = Promise.all([recorded, recordSession(event, store, surroundings).catch(reportFault)]).then(
        () => undefined,
      );
    },
  });
  return {
    agents,
    online: onlineAgents(agents, service),
    recorded: () => recorded,
    tunnelsWith: (labels) => agents.tunnels.of('', labels).flatMap(({ tunnel = [] }) => tunnel),
    revoked: (ids) => {
      for (const id of ids) agents.revoke(id, `the credential ${id} was deleted`);
    },
    written: async (ids, view) => {
      const known = new Set(ids);
      const touched = agents
        .sessions()
        .flatMap(({ admitted: { credential, owner = '' } }) =>
          credential !== null && (known.has(credential) || known.has(owner)) ? [credential] : [],
        );
      const apply = async (each: View): Promise<void> => {
        for (const id of new Set(touched)) await applyRights(id, agents, each);
      };
      if (touched.length > 0) await (view === undefined ? store.read(apply) : apply(view));
    },
  };
}

/** Who may start a session: agents with the token of a credential whose owner is active, from allowed addresses. */
async function admit(
  token: string,
  address: string,
  view: View,
  areAllowing: AddressRules,
): Promise<Admitted | Refusal> {
  if (!(await isAddressAllowed(address, 'agent', view, areAllowing)))
    return { number: 116, message: `The address ${address} is not allowed to start agent sessions.` };
  if (token === '') return { number: 4018, message: 'An agent needs the authtoken of a tunnel credential.' };
  const match = TOKEN.exec(token);
  if (match === null) return { number: 105, message: 'The authtoken is malformed.' };
  const credential = await view.get(`cr_${match[1]!}`);
  if (credential === null || !equalTexts(String(credential.body['token_hash']), tokenHash(token)))
    return { number: 107, message: 'The authtoken does not belong to any credential.' };
  const owner = await view.get(String(credential.body['owner_id']));
  if (owner === null || owner.body['active'] === false)
    return { number: 107, message: 'The owner of the authtoken is not active.' };
  return {
    credential: credential.id,
    owner: owner.id,
    acl: aclOf(credential.body),
  };
}

/** What the sessions of a credential may do from now on. */
async function applyRights(id: string, agents: Agents, view: View): Promise<void> {
  const credential = await view.get(id);
  if (credential === null) return;
  const owner = await view.get(String(credential.body['owner_id']));
  if (owner?.body['active'] === false) agents.revoke(id, `the owner of the credential ${id} was deactivated`);
  else agents.permit(id, aclOf(credential.body));
}

function aclOf(body: Body): readonly string[] {
  return (body['acl'] ?? []) as readonly string[];
}

/** Names under `localhost` and internal names need no reservation. */
async function refuseUnreserved({ kind, host, port }: BindRequest, view: View): Promise<Refusal | null> {
  if (host.endsWith('.localhost') || isInternalHost(host)) return null;
  if (kind === 'tcp') {
    const address = `${host}:${port}`;
    const isReserved = (await view.claimant({ space: 'addr', value: address })) !== null;
    return isReserved ? null : { number: 307, message: `The address '${address}' is not reserved.` };
  }
  const isReserved = (await reservedDomainOf(host, view)) !== null;
  return isReserved ? null : { number: 319, message: `The domain '${host}' is not reserved.` };
}

/** Events of agents that a destination has not accepted; of more the oldest are dropped. */
const UNDELIVERED_SESSION_EVENTS = 10_000;

async function recordSession(event: SessionEvent, store: Store, surroundings: Surroundings): Promise<void> {
  const { accountId, newId, nowMs, deliveries, subscribers, base } = surroundings;
  const eventType = `agent_session_${event.type}.v0`;
  const { facts, address, server } = event;
  const { userAgent, metadata, os, arch } = facts;
  const told = {
    ...event,
    userAgent,
    metadata,
    os,
    arch,
    serverIp: server.ip,
    serverHost: server.host,
    region: REGION,
    sessionId: event.id,
    credentialId: event.credential,
    agentIp: address,
  };
  const eventId = newId('ev');
  const whole = {
    event_id: eventId,
    event_type: eventType,
    event_timestamp: wholeSeconds(nowMs()),
    account_id: accountId,
    object: agentSessionObject(told, (id) => refTo(id, base()).uri),
    principal: null,
  };
  const record = { eventId, eventType, objectId: event.id, event: JSON.stringify(whole), isDroppable: true };
  const woken = await store.write(async (transaction) => {
    const destinations = await subscribers.of(eventType, transaction);
    await transaction.record(record, destinations);
    const counts = destinations.map(async (id) => ({
      id,
      dropped: await transaction.dropOldest(id, UNDELIVERED_SESSION_EVENTS),
    }));
    return Promise.all(counts);
  });
  for (const { id, dropped } of woken) if (dropped > 0) deliveries.dropped(id, dropped);
  deliveries.wake(woken.map(({ id }) => id));
}
