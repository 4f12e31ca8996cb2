import { networkInterfaces } from 'node:os';
import { type Api, managementApi } from './api/app.ts';
import type { ApiOptions, Wiring } from './api/contract.ts';
import { addressRules } from './address_rules.ts';
import { adminOf, openAccount } from './api/account.ts';
import { type Step, applyFile } from './api/apply_file.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { shownName } from './api/edge_file_names.ts';
import { edgeObjects } from './api/edge_objects.ts';
import { wholeDocument } from './api/edge_slice.ts';
import { subscribers } from './api/subscribers.ts';
import { fileSettings } from './api/file_settings.ts';
import { type ApiListening, type ListenOptions, listenApi } from './api/listen.ts';
import { secretText } from '../crypto/random.ts';
import {
  type AccountAgents,
  type AccountAgentsOptions,
  accountAgents,
  ingressCertificate,
} from './agents.ts';
import { type CertificateIssuance, certificateIssuance } from './certificate_issuance.ts';
import { type EdgeOfFile, type EdgeOptions, edgeOf } from '../edgeproof.ts';
import { reportFault } from '../io/containment.ts';
import type { Delivering } from '../events/delivery.ts';
import { newIds } from '../events/identifiers.ts';
import { EDGE_KINDS } from './resources/edge_document.ts';
import { credentials } from './resources/accounts.ts';
import { type PortsOptions, portsOf } from './object_ports.ts';
import type { IssuedCertificate } from '../crypto/issue_certificate.ts';
import type { Store } from './store/port.ts';
import type { StoreLimits } from './store/sqlite.ts';
import { create } from './api/objects.ts';
import { isAddressAllowed } from './api/restriction.ts';
import { NO_AGENTS } from './api/sessions.ts';
import { type Expiring, type RetentionOptions, expireEvents } from './retention.ts';
import { planeOf, usableDocument } from './data_plane.ts';
import { loginsOf } from './application_logins.ts';
import { type LoginEnds, keepLoginEnds } from './login_ends.ts';
import type { SealingKeys, SealingOptions } from './sealing_keys.ts';
import { samlKeysBeside, samlKeysIn } from './saml_keys.ts';
import { openSealedStore, openSessionKeys, sessionKeysOf } from './sealed_store.ts';
import { type DeliveringOptions, deliveriesOf, delivery, heardBy, sayLine } from './event_delivery.ts';
import { following } from './followed.ts';
import { type PostgresOptions, isPostgres } from './store/postgres.ts';
import { currentSecrets } from './vault_secrets.ts';

/** Options of `serve`. */
export interface ManagementOptions extends ApiOptions, PortsOptions, DeliveringOptions {
  /** File of the store, or the URL of a database of PostgreSQL. */
  readonly storePath: string;
  /** Where the keys of its secrets are; default: a file of the same name with the suffix `.key`. */
  readonly sealing?: SealingOptions;
  readonly storeLimits?: StoreLimits & PostgresOptions;
  readonly edge?: EdgeOptions;
  readonly nowMs?: () => number;
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
  readonly api: Api;
  readonly delivering: Delivering;
  readonly listen: (options?: ListenOptions) => Promise<ApiListening>;
  /**
   * Reads the keys of the secrets and of the sessions again. Throws StoreError and keeps the present ones if they cannot
   * be read.
   */
  readonly reloadKeys: () => Promise<void>;
  /** Applies an edge file to the store, as the admin of the account. */
  readonly apply: (document: EdgeConfig) => Promise<readonly Step[]>;
  /** The name of an object in an edge file, else its id with its description. */
  readonly nameOf: (id: string) => string;
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
  const { storePath, service = 'service', nowMs = Date.now, edge: edgeOptions = {} } = options;
  const reach = { allowPrivate: options.allowPrivateCallbacks === true, own: ownAddresses() };
  const { store, sealing } = await openSealedStore(storePath, {
    ...(options.storeLimits && { limits: options.storeLimits }),
    ...(options.sealing && { sealing: options.sealing }),
  });
  try {
    const newId = newIds(nowMs);
    const { accountId, firstKey } = await openAccount(store, { newId, secretText, nowMs });
    const [stored, settings, revision] = await store.read(async (view) => [
      await view.all(EDGE_KINDS),
      await fileSettings(view),
      (await view.revision?.()) ?? 0,
    ]);
    const objects = edgeObjects(stored);
    const whole = wholeDocument(objects, { service, settings });
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
    const account = options.agents ? accountAgents(store, options.agents, surroundings) : null;
    const first = usableDocument(whole);
    const secrets = currentSecrets(whole, edgeOptions.secrets);
    const sharedKeys = isPostgres(storePath) ? await samlKeysIn(store, sealing, nowMs) : null;
    const samlKeys = sharedKeys?.of ?? samlKeysBeside(storePath, sealing, nowMs);
    const edge = edgeOf(first, {
      ...edgeOptions,
      ...(account && { agents: account.agents }),
      secrets,
      login: { samlKeys, sessionKeys: await sessionKeysOf(store, sealing), ...edgeOptions.login },
      ...heardBy(delivering, accountId, edgeOptions),
    });
    const hears: Hearing = { account, issuance: null };
    const wiring: Wiring = {
      ...known,
      store,
      edgeObjects: objects,
      dataPlane: planeOf(edge, first, secrets),
      ports: portsOf(options, reach, account, samlKeys),
      online: account?.online ?? NO_AGENTS,
      exactWarnings: async (document) => (await import('./exact_warnings.ts')).exactWarnings(document),
      ...(sharedKeys && { kept: sharedKeys.keep }),
      committed: async ({ written, removed }) => {
        account?.revoked(removed);
        hears.issuance?.written(written);
        await account?.written(written).catch(reportFault);
      },
      options,
    };
    const running = await started(wiring, edge, { hears, delivering, location }, options);
    const around = { wiring, runtime: edge.runtime, ...running, samlKeys: sharedKeys, sealing };
    store.nodes?.onLead(() => void delivering.changed());
    store.nodes?.follow(revision, following(around, sayLine));
    const api = managementApi(wiring, loginsOf(edge.runtime, running.ends, nowMs));
    const reloadKeys = (): Promise<void> => readKeysAgain(store, sealing, edge);
    const own = { edge, firstKey, delivering, api, reloadKeys };
    return { ...own, ...operations(wiring, api, running) };
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function readKeysAgain(store: Store, sealing: SealingKeys, { runtime }: EdgeOfFile): Promise<void> {
  await sealing.reload();
  runtime.rekey(await store.read((view) => openSessionKeys(view, sealing)));
}

/**
 * Makes the account and the keys of a store that is new, so that several processes can open it at once. Returns the admin
 * key that this has created; null if the store was in use before. Throws StoreError.
 */
export async function initialised(storePath: string, keys: SealingOptions): Promise<string | null> {
  const { store, sealing } = await openSealedStore(storePath, { sealing: keys });
  try {
    const nowMs = Date.now;
    const { firstKey } = await openAccount(store, { newId: newIds(nowMs), secretText, nowMs });
    await sessionKeysOf(store, sealing);
    return firstKey;
  } finally {
    await store.close();
  }
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

/** What is notified of committed writes. */
interface Hearing {
  readonly account: AccountAgents | null;
  issuance: CertificateIssuance | null;
}

/** Starts what runs beside the API. */
async function started(
  wiring: Wiring,
  edge: EdgeOfFile,
  { hears, delivering, location }: Pick<Running, 'delivering' | 'location'> & { readonly hears: Hearing },
  { retention = {} }: ManagementOptions,
): Promise<Running> {
  const { store, nowMs, newId } = wiring;
  const issuance = certificateIssuance(wiring, () => location.base);
  hears.issuance = issuance;
  const expiring = expireEvents(store, retention, { nowMs, say: sayLine });
  const ends = await keepLoginEnds(store, edge.runtime.logins, newId);
  return { account: hears.account, delivering, expiring, ends, issuance, location };
}

/** The operations of an open instance. */
function operations(
  wiring: Wiring,
  api: Management['api'],
  { account, delivering, expiring, ends, issuance, location }: Running,
): Pick<
  Management,
  'store' | 'nameOf' | 'listen' | 'apply' | 'createCredential' | 'ingressCertificate' | 'mayInspect' | 'close'
> {
  const { store } = wiring;
  return {
    store,
    nameOf: (id) => {
      const object = wiring.edgeObjects.get(id);
      return object === undefined ? id : shownName(object);
    },
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
