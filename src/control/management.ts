import { networkInterfaces } from 'node:os';
import { callbackPost, isOfThisNetwork } from '../clients/callback_post.ts';
import { managementApi } from './api/app.ts';
import type { ApiOptions, Deliveries, DataPlane, Wiring } from './api/contract.ts';
import { adminOf, openAccount } from './api/account.ts';
import { type Step, applyFile } from './api/apply_file.ts';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { edgeObjects } from './api/edge_objects.ts';
import { fileSettings } from './api/file_settings.ts';
import { type ApiListening, type ListenOptions, listenApi } from './api/listen.ts';
import { secretFraction, secretText } from '../crypto/random.ts';
import { hasErrors } from '../diagnostics/diagnostic.ts';
import { validationCache } from '../edge/document/validation_cache.ts';
import { deepFreeze } from '../config_file/freeze.ts';
import { checkWholeEdge } from '../edge/semantic_checks.ts';
import { type EdgeOfFile, type EdgeOptions, type UsableConfig, ConfigError, edgeOf } from '../edgeproof.ts';
import type { HttpRequestCompleteEvent } from '../events/catalogue.ts';
import { type Delivering, deliver } from '../events/delivery.ts';
import type { DeliveryOptions, Outbox } from '../events/outbox.ts';
import { idMaker, type IdMaker } from '../events/identifiers.ts';
import { type EventSource, sourceProblem } from '../events/sources.ts';
import type { TargetSettings } from '../events/targets.ts';
import { EDGE_KINDS, type EdgeDocument, edgeDocument, servedConfig } from './resources/edge_document.ts';
import type { Store } from './store/port.ts';
import { NO_AGENTS } from './api/sessions.ts';
import { loginsOf } from './application_logins.ts';
import { type LoginEnds, keepLoginEnds } from './login_ends.ts';
import { samlKeysBeside } from './saml_keys.ts';
import { openSealedStore } from './sealed_store.ts';
import { sessionKeysOf } from './session_keys.ts';
import { type CurrentSecrets, currentSecrets } from './vault_secrets.ts';

/** Options of `serve`. */
export interface ManagementOptions extends ApiOptions {
  /** File of the store; the sealing key is in a file of the same name with the suffix `.key`. */
  readonly storePath: string;
  readonly service?: string;
  readonly edge?: EdgeOptions;
  readonly nowMs?: () => number;
  readonly delivery?: Partial<DeliveryOptions>;
  /** Folder for files of event destinations; absent: such destinations are refused. */
  readonly eventFiles?: string;
  /** Whether callbacks may reach this machine and its network; default false. */
  readonly allowPrivateCallbacks?: boolean;
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
    delivery = {},
    eventFiles,
    allowPrivateCallbacks = false,
    ...apiOptions
  } = options;
  const reach = { allowPrivate: allowPrivateCallbacks, own: ownAddresses() };
  const { store, key } = await openSealedStore(storePath);
  try {
    const newId = newIds(nowMs);
    const { accountId, firstKey } = await openAccount(store, { newId, secretText, nowMs });
    const stored = await store.read(async (view) =>
      edgeDocument(await view.all(EDGE_KINDS), service, await fileSettings(view)),
    );
    const delivering = await deliver(outboxOf(store), {
      nowMs,
      random: Math.random,
      say: (text) => void process.stdout.write(text),
      ...(eventFiles !== undefined && { eventFiles }),
      post: callbackPost(reach),
      ...delivery,
    });
    const first = usableDocument(stored);
    const secrets = currentSecrets(stored, edgeOptions.secrets);
    const samlKeys = samlKeysBeside(storePath, key, nowMs);
    const edge = edgeOf(first, {
      ...edgeOptions,
      secrets,
      login: { samlKeys, sessionKeys: await sessionKeysOf(store, key), ...edgeOptions.login },
      onEvent: (event: HttpRequestCompleteEvent, explain) => {
        delivering.traffic(Object.assign({}, event, { account_id: accountId, principal: null }));
        edgeOptions.onEvent?.(event, explain);
      },
      onConnection: (event, explain) => {
        delivering.traffic(Object.assign({}, event, { account_id: accountId, principal: null }));
        edgeOptions.onConnection?.(event, explain);
      },
    });
    const wiring: Wiring = {
      store,
      edgeObjects: edgeObjects(),
      dataPlane: planeOf(edge, first, secrets),
      ports: {
        service,
        samlCertificate: (route) => samlKeys(route).certificatePem,
        secretText,
        allowsEventFiles: eventFiles !== undefined,
        refusesCallback: (host) => !allowPrivateCallbacks && isOfThisNetwork(host, reach),
        sourceProblem: sourceProblem as never,
      },
      deliveries: deliveriesOf(delivering),
      accountId,
      nowMs,
      newId,
      options: apiOptions,
    };
    const ends = await keepLoginEnds(store, edge.runtime.logins, newId);
    const api = managementApi(wiring, NO_AGENTS, loginsOf(edge.runtime, ends, nowMs));
    return { edge, firstKey, delivering, api, ...operations(wiring, api, delivering, ends) };
  } catch (error) {
    await store.close();
    throw error;
  }
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address));
}

/** The operations of an open instance. */
function operations(
  wiring: Wiring,
  api: Management['api'],
  delivering: Delivering,
  ends: LoginEnds,
): Pick<Management, 'store' | 'listen' | 'apply' | 'close'> {
  const { store } = wiring;
  let base = 'http://localhost';
  return {
    store,
    listen: async (options) => {
      const listening = await listenApi(api, options);
      base = listening.url;
      return listening;
    },
    apply: async (document) => {
      const principal = await store.read(adminOf);
      return applyFile(wiring, { principal, base }, document, false);
    },
    close: async () => {
      await delivering.close();
      await ends.kept().catch(() => undefined);
      await store.close();
    },
  };
}

/** Returns a function that creates ids with a prefix. */
export function newIds(nowMs: () => number): (prefix: string) => string {
  const makers = new Map<string, IdMaker>();
  return (prefix) => {
    let maker = makers.get(prefix);
    if (maker === undefined) makers.set(prefix, (maker = idMaker(prefix, secretFraction)));
    return maker(nowMs());
  };
}

/** Controls the edge by documents; restores the previous configuration if a commit fails. */
function planeOf(edge: EdgeOfFile, first: UsableConfig, secrets: CurrentSecrets): DataPlane {
  // Bodies of stored objects are immutable, so parts of documents built from them can be cached by identity.
  const known = validationCache();
  let current = { config: first, secrets: secrets.current() };
  let before = current;
  const put = (next: typeof current): void => {
    edge.swapTo(next.config);
    secrets.replace(next.secrets);
    before = current;
    current = next;
  };
  return {
    swap: (document) => {
      const checked = checkWholeEdge({ value: withFrozenFacts(document.value) }, { cache: known });
      const { config, diagnostics } = checked;
      if (config === null || hasErrors(diagnostics)) return diagnostics;
      const next: UsableConfig = { ...checked, config: deepFreeze(servedConfig(config, document)) };
      put({ config: next, secrets: document.secrets });
      return [];
    },
    revert: () => put(before),
    settled: () => edge.settled(),
  };
}

/** Frozen facts keep their identity, by which they are compiled once. */
function withFrozenFacts<Value extends EdgeDocument['value']>(value: Value): Value {
  deepFreeze(value['facts']);
  return value;
}

/** Checks a document and returns the part that can be served; throws ConfigError. */
export function usableDocument(document: EdgeDocument): UsableConfig {
  const checked = checkWholeEdge({ value: document.value });
  if (checked.config === null) throw new ConfigError(checked.diagnostics);
  return { ...checked, config: deepFreeze(servedConfig(checked.config, document)) };
}

/** The store as the queue of the deliverer. */
function outboxOf(store: Store): Outbox {
  return {
    destinations: async () => {
      const objects = await store.read((view) => view.all(['event_destination']));
      return objects.map(({ id, body }) => ({ id, target: body['target'] as TargetSettings }));
    },
    subscriptions: async () => {
      const objects = await store.read((view) => view.all(['event_subscription']));
      return objects.map(({ body }) => ({
        sources: body['sources'] as readonly EventSource[],
        destinations: body['destination_ids'] as readonly string[],
      }));
    },
    waiting: (destination, limit) => store.read((view) => view.waiting(destination, limit)),
    waitingCount: (destination) => store.read((view) => view.waitingCount(destination)),
    delivered: (sequences) => store.write((transaction) => transaction.delivered(sequences)),
  };
}

function deliveriesOf(delivering: Delivering): Deliveries {
  return { changed: delivering.changed, statusOf: delivering.statusOf };
}
