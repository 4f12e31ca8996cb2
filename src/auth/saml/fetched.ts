import { isTamperProof } from '../../net/private_hosts.ts';
import { awaited, type Conversation, fetching } from '../conversation.ts';
import type { LoginMemory } from '../memory.ts';
import type { IdentityProvider, LoginContext, LoginRefusal } from '../provider.ts';
import { SAML_PATHS } from './addresses.ts';
import { type ProviderMetadata, hasEnded, isMetadataProblem, readMetadata } from './metadata.ts';
import { samlProvider } from './provider.ts';
import type { SamlSettings } from './settings.ts';

/** Metadata is fetched again after this time; if that fails, the old metadata is no longer used. */
const FRESH_MS = 3_600_000;
const LIMIT_BYTES = 1_048_576;

interface Kept {
  readonly metadata: ProviderMetadata;
  /** The clock may be set back to before it. */
  readonly atMs: number;
  readonly untilMs: number;
}

/**
 * A provider whose metadata is fetched. Its certificates are trusted, so the URL must use TLS or loopback,
 * and redirects are not followed.
 */
export function fetchedSamlProvider(url: string, settings: Omit<SamlSettings, 'metadata'>): IdentityProvider {
  const id = `saml ${url}`;
  const of = (metadata: ProviderMetadata): IdentityProvider => samlProvider({ ...settings, metadata }, id);
  // These members do not depend on the metadata.
  const { callback, callbackBy, stateField, unsolicited, check, lists } = of(NO_METADATA);
  return {
    id,
    label: url,
    clientId: '',
    lists,
    callback,
    callbackBy,
    stateField,
    shortState: true,
    ...(unsolicited === undefined ? {} : { unsolicited }),
    ...(check === undefined ? {} : { check }),
    begin: function* (loginState, state, context) {
      const metadata = yield* metadataAt(url, context);
      return 'refused' in metadata
        ? metadata
        : yield* awaited(of(metadata).begin(loginState, state, context));
    },
    finish: function* (fields, loginState, context) {
      const metadata = yield* metadataAt(url, context);
      return 'refused' in metadata
        ? metadata
        : yield* awaited(of(metadata).finish(fields, loginState, context));
    },
    logout: function* (session, context) {
      const metadata = yield* metadataAt(url, context);
      // The local session has ended, even if the provider cannot be reached.
      if ('refused' in metadata) return null;
      const away = of(metadata).logout!(session, context);
      return away === null || typeof away === 'string' ? away : yield* away;
    },
    other: (path, context) => {
      if (path === SAML_PATHS.metadata) return of(NO_METADATA).other!(path, context);
      if (path !== SAML_PATHS.slo) return null;
      return (function* () {
        const metadata = yield* metadataAt(url, context);
        const answered = of('refused' in metadata ? NO_METADATA : metadata).other!(path, context)!;
        return yield* awaited(answered);
      })();
    },
  };
}

/** Placeholder metadata without certificates: no signature verifies against it. */
const NO_METADATA: ProviderMetadata = {
  entityId: '',
  certificates: [],
  passedOver: [],
  singleSignOn: { binding: 'redirect', url: '', responseUrl: '' },
  singleLogout: null,
  validUntilMs: null,
};

/** Whether metadata may be fetched from this URL. */
export function isMetadataUrl(url: string): boolean {
  const read = URL.parse(url);
  return read !== null && isTamperProof(read);
}

function* metadataAt(url: string, context: LoginContext): Conversation<ProviderMetadata | LoginRefusal> {
  const { memory, world } = context;
  const kept = keptIn(memory, url);
  const nowMs = world.nowMs();
  if (kept !== null && kept.atMs <= nowMs && nowMs < kept.untilMs) return kept.metadata;
  const headers = ['accept', 'application/samlmetadata+xml, application/xml, text/xml'];
  // Anyone can start a login, so concurrent logins share one request for metadata.
  const answer = yield* fetching({ url, headers, limitBytes: LIMIT_BYTES, share: `metadata ${url}` });
  if ('failure' in answer) return unusable('is unavailable', `${answer.failure}: ${answer.detail}`);
  if (answer.status !== 200) return unusable('is unavailable', `status ${answer.status}`);
  const metadata = readMetadata(Buffer.from(answer.body).toString('utf8'));
  if (isMetadataProblem(metadata)) return unusable('is invalid', metadata.problems[0]!.message);
  if (hasEnded(metadata, nowMs)) return unusable('has expired', 'validUntil');
  const untilMs = Math.min(nowMs + FRESH_MS, metadata.validUntilMs ?? Number.POSITIVE_INFINITY);
  memory.protocol.set(`metadata ${url}`, { metadata, atMs: nowMs, untilMs } satisfies Kept);
  return metadata;
}

function keptIn({ protocol }: LoginMemory, url: string): Kept | null {
  return (protocol.get(`metadata ${url}`) as Kept | undefined) ?? null;
}

function unusable(message: string, reason: string): LoginRefusal {
  return {
    refused: 'provider_failed',
    message: `The metadata of the identity provider ${message}.`,
    detail: { reason },
  };
}
