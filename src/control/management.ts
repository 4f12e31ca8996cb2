import { networkInterfaces } from 'node:os';
import { type CallbackReach, callbackPost } from '../clients/callback_post.ts';
import { guardedDial } from '../clients/guarded_dial.ts';
import { kafkaQueue } from '../clients/kafka.ts';
import { natsQueue } from '../clients/nats.ts';
import { managementApi } from './api/app.ts';
import type { ApiOptions, Deliveries, Wiring } from './api/contract.ts';
import { addressRules } from './address_rules.ts';
import { adminOf, openAccount } from './api/account.ts';
import { type Step, applyFile } from './api/apply_file.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { edgeObjects } from './api/edge_objects.ts';
import { wholeDocument } from './api/edge_slice.ts';
import { subscribers } from './api/subscribers.ts';
import { fileSettings } from './api/file_settings.ts';
import { type ApiListening, type ListenOptions, listenApi } from './api/listen.ts';
import type { AwsCredentials } from '../crypto/aws_signature.ts';
import { secretText } from '../crypto/random.ts';
import {
  type AccountAgents,
  type AccountAgentsOptions,
  accountAgents,
  ingressCertificate,
} from './agents.ts';
import { type CertificateIssuance, certificateIssuance } from './certificate_issuance.ts';
import { type EdgeOfFile, type EdgeOptions, edgeOf } from '../edgeproof.ts';
import { type Delivering, deliver } from '../events/delivery.ts';
import type { DeliveryOptions } from '../events/outbox.ts';
import { newIds } from '../events/identifiers.ts';
import { EDGE_KINDS } from './resources/edge_document.ts';
import { credentials } from './resources/accounts.ts';
import { type PortsOptions, portsOf } from './object_ports.ts';
import type { IssuedCertificate } from '../crypto/issue_certificate.ts';
import { outboxOf } from './outbox.ts';
import type { Store } from './store/port.ts';
import type { StoreLimits } from './store/sqlite.ts';
import { create } from './api/objects.ts';
import { isAddressAllowed } from './api/restriction.ts';
import { NO_AGENTS } from './api/sessions.ts';
import { type Expiring, type RetentionOptions, expireEvents } from './retention.ts';
import { planeOf, usableDocument } from './data_plane.ts';
import { loginsOf } from './application_logins.ts';
import { type LoginEnds, keepLoginEnds } from './login_ends.ts';
import { samlKeysBeside, openSealedStore, sessionKeysOf } from './sealed_store.ts';
import { currentSecrets } from './vault_secrets.ts';

/** Credentials that may assume the roles of event destinations, and other addresses of services. */
export interface CloudOptions {
  readonly aws?: AwsCredentials;
  readonly endpoint?: NonNullable<DeliveryOptions['endpoint']>;
}

/** Options of `serve`. */
export interface ManagementOptions extends ApiOptions, PortsOptions {
  /** File of the store; the sealing key is in a file of the same name with the suffix `.key`. */
  readonly storePath: string;
  readonly storeLimits?: StoreLimits;
  readonly edge?: EdgeOptions;
  readonly nowMs?: () => number;
  readonly delivery?: Partial<DeliveryOptions>;
  /** What the operator gives to event destinations in clouds. */
  readonly cloud?: CloudOptions;
  /** How long audit records and undelivered events are kept; default: forever. */
  readonly retention?: RetentionOptions;
  /** Agents with credentials of the store may start sessions; default none. */
  readonly agents?: AccountAgentsOptions;
}

/** The management API and its edge, in one process. */
export interface Management {
  readonly edge: EdgeOfFile;
  readonly store: Store;
  /** The admin key that the first start has created; null on later starts. */
  readonly firstKey: string | null;
  readonly api: ReturnType<typeof managementApi>;
  readonly delivering: Delivering;
  readonly listen: (options?: ListenOptions) => Promise<ApiListening>;
  /** Applies an edge file to the store, as the admin of the account. */
  readonly apply: (document: EdgeConfig) => Promise<readonly Step[]>;
  /** Creates a tunnel credential of the admin; returns its token. */
  readonly createCredential: (description: string) => Promise<string>;
  /** The managed certificate of the agent ingress with this host; null if there is none. */
  readonly ingressCertificate: (host: string) => Promise<IssuedCertificate | null>;
  /** Whether the IP restriction of the type dashboard lets an address use the inspector. */
  readonly mayInspect: (address: string) => Promise<boolean>;
  readonly close: () => Promise<void>;
}

/**
 * Opens the store and connects API, edge and deliveries. Throws StoreError, or ConfigError for an invalid
 * configuration.
 */
export async function openManagement(options: ManagementOptions): Promise<Management> {
  const {
    storePath,
    service = 'service',
    nowMs = Date.now,
    edge: edgeOptions = {},
    allowPrivateCallbacks = false,
    agents: agentsOptions,
  } = options;
  const reach = { allowPrivate: allowPrivateCallbacks, own: ownAddresses() };
  const { store, key } = await openSealedStore(storePath, options.storeLimits);
  try {
    const newId = newIds(nowMs);
    const { accountId, firstKey } = await openAccount(store, { newId, secretText, nowMs });
    const objects = edgeObjects(await store.read((view) => view.all(EDGE_KINDS)));
    const settings = await store.read(fileSettings);
    const stored = wholeDocument(objects, { service, settings });
    const delivering = await delivery(store, options, { reach, nowMs, accountId });
    const location = { base: 'http://localhost' };
    const known = {
      areAllowing: addressRules(objects.policies),
      accountId,
      nowMs,
      newId,
      deliveries: deliveriesOf(delivering),
      subscribers: subscribers(),
    };
    const surroundings = { ...known, service, base: () => location.base };
    const account = agentsOptions === undefined ? null : accountAgents(store, agentsOptions, surroundings);
    const first = usableDocument(stored);
    const secrets = currentSecrets(stored, edgeOptions.secrets);
    const samlKeys = samlKeysBeside(storePath, key, nowMs);
    const edge = edgeOf(first, {
      ...edgeOptions,
      ...(account && { agents: account.agents }),
      secrets,
      login: { samlKeys, sessionKeys: await sessionKeysOf(store, key), ...edgeOptions.login },
      ...heardBy(delivering, accountId, edgeOptions),
    });
    let issuance: CertificateIssuance | null = null;
    const wiring: Wiring = {
      ...known,
      store,
      edgeObjects: objects,
      dataPlane: planeOf(edge, first, secrets),
      ports: portsOf(options, reach, account, samlKeys),
      online: account?.online ?? NO_AGENTS,
      exactWarnings: async (document) => (await import('./exact_warnings.ts')).exactWarnings(document),
      committed: ({ written, removed }) => {
        account?.revoked(removed);
        issuance?.written(written);
      },
      options,
    };
    issuance = certificateIssuance(wiring, () => location.base);
    const expiring = expireEvents(store, options.retention ?? {}, { nowMs, say: sayLine });
    const ends = await keepLoginEnds(store, edge.runtime.logins, newId);
    const api = managementApi(wiring, loginsOf(edge.runtime, ends, nowMs));
    const running = { account, delivering, expiring, ends, issuance, location };
    return { edge, firstKey, delivering, api, ...operations(wiring, api, running) };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Starts the deliverer of events. */
function delivery(
  store: Store,
  { delivery: given = {}, eventFiles, cloud = {} }: ManagementOptions,
  {
    reach,
    nowMs,
    accountId,
  }: Pick<DeliveryOptions, 'nowMs'> & {
    readonly reach: CallbackReach;
    readonly accountId: string;
  },
): Promise<Delivering> {
  const dial = guardedDial(reach);
  return deliver(outboxOf(store), {
    nowMs,
    random: Math.random,
    say: sayLine,
    ...(eventFiles !== undefined && { eventFiles }),
    post: callbackPost(reach),
    queues: {
      nats: (settings) => natsQueue(settings, dial),
      kafka: (settings) => kafkaQueue(settings, dial),
    },
    aws: { externalId: accountId, ...(cloud.aws && { credentials: cloud.aws }) },
    ...(cloud.endpoint && { endpoint: cloud.endpoint }),
    ...given,
  });
}

/** Passes traffic events to the deliverer, then to the given listeners. */
function heardBy(
  delivering: Delivering,
  accountId: string,
  given: EdgeOptions,
): Required<Pick<EdgeOptions, 'onEvent' | 'onConnection' | 'onHttpConnection' | 'tracing'>> {
  const send: Delivering['traffic'] = (event, explain) =>
    delivering.traffic(Object.assign({}, event, { account_id: accountId, principal: null }), explain);
  return {
    tracing: () => delivering.wantsSpans() || given.tracing?.() === true,
    onEvent: (event, explain) => {
      send(event, explain);
      given.onEvent?.(event, explain);
    },
    onConnection: (event, explain) => {
      send(event);
      given.onConnection?.(event, explain);
    },
    onHttpConnection: (event) => {
      send(event);
      given.onHttpConnection?.(event);
    },
  };
}

function sayLine(text: string): void {
  process.stdout.write(text);
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address));
}

interface Running {
  readonly delivering: Delivering;
  readonly expiring: Expiring;
  readonly ends: LoginEnds;
  readonly issuance: CertificateIssuance;
  /** Where the API is. */
  readonly location: { base: string };
  readonly account: AccountAgents | null;
}

/** The operations of an open instance. */
function operations(
  wiring: Wiring,
  api: Management['api'],
  { account, delivering, expiring, ends, issuance, location }: Running,
): Pick<
  Management,
  'store' | 'listen' | 'apply' | 'createCredential' | 'ingressCertificate' | 'mayInspect' | 'close'
> {
  const { store } = wiring;
  return {
    store,
    listen: async (options) => {
      const listening = await listenApi(api, options);
      location.base = listening.url;
      return listening;
    },
    apply: async (document) => {
      const principal = await store.read(adminOf);
      return applyFile(wiring, { principal, base: location.base }, document, false);
    },
    createCredential: async (description) => {
      const principal = await store.read(adminOf);
      const asking = { principal, base: location.base };
      const made = await create({ wiring, asking, resource: credentials, ids: {} }, { description });
      return String(made['token']);
    },
    ingressCertificate: (host) => ingressCertificate(store, host),
    mayInspect: (address) =>
      store.read((view) => isAddressAllowed(address, 'dashboard', view, wiring.areAllowing)),
    close: async () => {
      await issuance.close();
      await account?.recorded();
      await expiring.stop();
      await delivering.close();
      await ends.kept().catch(() => undefined);
      await store.close();
    },
  };
}

function deliveriesOf(delivering: Delivering): Deliveries {
  const { changed, wake, dropped, statusOf } = delivering;
  return { changed, wake, dropped, statusOf };
}
