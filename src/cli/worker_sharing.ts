import type { Worker } from 'node:cluster';
import type { EdgeConfig } from '../edge/document/schema.ts';
import { type SigningIdentity, newSigningIdentity } from '../crypto/issue_certificate.ts';
import { newSealingKey } from '../crypto/sealing.ts';
import { channelState } from '../shared_state/channel.ts';
import type { Hub } from '../shared_state/hub.ts';
import type { FromHub, Link, ToHub } from '../shared_state/link.ts';
import type { SharedState } from '../shared_state/port.ts';
import { type NamedLogin, loginsOf } from './development_logins.ts';
import type { DevelopmentProvider } from './development_provider.ts';
import { readSessionKeys } from './environment_secrets.ts';

/** What the first process has for all workers: the keys of sessions, the development provider, shared state. */

/** What a worker needs before it serves. */
interface Welcome {
  readonly sessionKeys: readonly string[];
  readonly provider:
    | (Pick<DevelopmentProvider, 'url' | 'replaces'> & { readonly samlMetadata: string })
    | null;
}

type FromWorker = { readonly sharing: ToHub } | { readonly asksFor: 'welcome' | 'signing' };

type FromFirst =
  | { readonly shared: FromHub }
  | { readonly welcome: Welcome }
  | { readonly signing: SigningIdentity };

/** Serves what workers ask for; `provider` is there before they are. */
export function sharingWith(hub: Hub, provider: DevelopmentProvider | null): (worker: Worker) => void {
  const sessionKeys = readSessionKeys(process.env) ?? [newSealingKey()];
  let signing: SigningIdentity | null = null;
  const welcome = (): Welcome => ({
    sessionKeys,
    provider:
      provider === null
        ? null
        : { url: provider.url, replaces: provider.replaces, samlMetadata: provider.samlMetadata() },
  });
  const answerTo = (wanted: 'welcome' | 'signing'): FromFirst => {
    if (wanted === 'welcome') return { welcome: welcome() };
    return { signing: (signing ??= newSigningIdentity('edgeproof', Date.now())) };
  };
  return (worker) => {
    const say = (message: FromFirst): boolean => {
      if (!worker.isConnected()) return false;
      worker.send(message);
      return true;
    };
    worker.on('message', (message: FromWorker) => {
      if ('asksFor' in message) say(answerTo(message.asksFor));
    });
    hub.attach({
      send: (shared) => say({ shared }),
      hear: (take) =>
        void worker.on('message', (message: FromWorker) => {
          if ('sharing' in message) take(message.sharing);
        }),
      onOver: (over) => void worker.once('disconnect', over),
    });
  };
}

/** What a worker has from the first process. */
export interface Joined {
  readonly sessionKeys: readonly string[];
  readonly provider: DevelopmentProvider | null;
  readonly state: SharedState;
  /** Fetches the key for signing SAML messages if the configuration needs it; all gates of all workers use one. */
  readonly prepare: (config: EdgeConfig) => Promise<void>;
  readonly samlKeys: () => SigningIdentity | null;
}

/** Asks the first process for what this worker needs; never resolves if that process is gone, which ends this one. */
export async function joinFirst(): Promise<Joined> {
  const { sessionKeys, provider } = await asked('welcome', (message) =>
    'welcome' in message ? message.welcome : null,
  );
  let signing: SigningIdentity | null = null;
  return {
    sessionKeys,
    provider:
      provider === null
        ? null
        : {
            ...provider,
            samlMetadata: () => provider.samlMetadata,
            lines: [],
            close: () => Promise.resolve(),
          },
    state: channelState(linkToFirst(), { whenUnavailable: 'local' }),
    prepare: async (config) => {
      if (signing !== null || !loginsOf(config).some(signsRequests)) return;
      signing = await asked('signing', (message) => ('signing' in message ? message.signing : null));
    },
    samlKeys: () => signing,
  };
}

function signsRequests({ provider }: NamedLogin): boolean {
  return provider.signsRequests;
}

function asked<Answer>(
  asksFor: 'welcome' | 'signing',
  read: (message: FromFirst) => Answer | null,
): Promise<Answer> {
  return new Promise((resolve) => {
    const hear = (message: FromFirst): void => {
      const answer = read(message);
      if (answer === null) return;
      process.off('message', hear);
      resolve(answer);
    };
    process.on('message', hear);
    tell({ asksFor });
  });
}

function linkToFirst(): Link<ToHub, FromHub> {
  return {
    send: (sharing) => tell({ sharing }),
    hear: (take) =>
      void process.on('message', (message: FromFirst) => {
        if ('shared' in message) take(message.shared);
      }),
    onOver: (over) => void process.once('disconnect', over),
  };
}

function tell(message: FromWorker): boolean {
  if (!process.connected) return false;
  process.send?.(message);
  return true;
}
