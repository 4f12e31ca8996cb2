import type { FetchRequest, SignatureRequest } from '../engine/contract.ts';
import type { Answers } from '../engine/questions.ts';
import type { OidcAnswer, OidcQuestion } from '../engine/oidc_question.ts';
import { approve, readAuthorization } from './authorize.ts';
import { type Identity, returnedState } from './identities.ts';
import { type DevelopmentIdp, developmentIdp } from './idp.ts';
import { TOKEN_SECONDS, identityOf } from './memory.ts';
import { AUTHORIZE_PATHS, TOKEN_PATHS, isApi } from './provider_apis.ts';
import { type TokenAnswer, exchange, idClaims, userInfo } from './tokens.ts';
import { type Signer, keyInfo } from '../auth/saml/canonical.ts';
import { readLoginRequest } from './saml_request.ts';
import { SIMULATED_PROVIDER } from './simulated_key.ts';
import { samlResponse } from './saml_response.ts';

/** Providers of a simulation: these identities log in at any issuer or OAuth provider that an edge names. */
export interface SimulatedIdentities {
  readonly oidc: (question: OidcQuestion) => Timed<OidcAnswer>;
  /** Null: the URL does not belong to a provider. */
  readonly fetch: (request: FetchRequest) => Timed<Answers['fetch']> | null;
  /** The redirect for an identity from a provider's page; null if the URL does not belong to a provider. */
  readonly approve: (location: string, identity: string) => string | null;
  /**
   * The form that a SAML provider's page submits for an identity; null if the URL does not belong to a
   * provider.
   */
  readonly approveSaml: SimulatedSaml['approve'];
  /** Verifies only signatures of responses from `approveSaml`. */
  readonly verify: SimulatedSaml['verify'];
  readonly replace: DevelopmentIdp['replace'];
}

interface Timed<T> {
  readonly given: T;
  readonly afterMs: number;
}

/** Login path of simulated OpenID providers, below the issuer, whatever its real path is. */
const AUTHORIZE = '/simulated/authorize';
const STAND_IN = `${SIMULATED_PROVIDER}/as/`;
const SLOW_MS = 20_000;
const TIMEOUT_MS = 10_000;

/** Creates the providers of one simulation. */
export function simulatedIdentities(
  identities: readonly Identity[],
  nowMs: () => number,
  newSecret: () => string,
): SimulatedIdentities {
  const idp = developmentIdp(SIMULATED_PROVIDER, identities, newSecret);
  const saml = simulatedSaml(() => idp.memory.identities, nowMs, newSecret);
  return {
    replace: idp.replace,
    approveSaml: saml.approve,
    verify: saml.verify,
    oidc: (question) => answered(idp, question, nowMs()),
    // Without identities, scripts may answer for a provider.
    fetch: (request) => (idp.memory.identities.size === 0 ? null : fetched(idp, request, nowMs())),
    approve: (location, identity) => {
      const url = URL.parse(location);
      if (url === null) return null;
      const place = placeOf(url);
      const isOidc = url.pathname.endsWith(AUTHORIZE);
      if (!isOidc && !AUTHORIZE_PATHS.has(place)) return null;
      const asked = readAuthorization(url.searchParams);
      if (typeof asked === 'string') return null;
      const issuer = isOidc
        ? url.origin + url.pathname.slice(0, -AUTHORIZE.length)
        : `https://${place.split('/')[0]!}`;
      return approve(idp.memory, asked, identity, issuer, nowMs());
    },
  };
}

function answered(
  { memory }: DevelopmentIdp,
  { client, request }: OidcQuestion,
  nowMs: number,
): Timed<OidcAnswer> {
  switch (request.does) {
    case 'authorize': {
      const { redirectUri, scope, state, nonce, parameters } = request;
      const url = new URL(`${client.issuer.replace(/\/$/, '')}${AUTHORIZE}`);
      const query = {
        ...parameters,
        response_type: 'code',
        client_id: client.clientId,
        redirect_uri: redirectUri,
      };
      for (const [name, value] of Object.entries({ ...query, scope, state, nonce }))
        url.searchParams.set(name, value);
      return now({ url: url.href });
    }
    case 'exchange': {
      const query = new URL(request.callbackUrl).searchParams;
      if (query.get('error') !== null) return now({ failure: 'denied', detail: query.get('error')! });
      const form = new URLSearchParams({
        grant_type: 'authorization_code',
        code: query.get('code') ?? '',
        redirect_uri: request.callbackUrl.split('?')[0]!,
      });
      return tokensOf(exchange(memory, form, nowMs), client.issuer, nowMs);
    }
    case 'refresh': {
      const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: request.refreshToken });
      return tokensOf(exchange(memory, form, nowMs), client.issuer, nowMs);
    }
    case 'user_info': {
      const identity = identityOf(memory, memory.accessTokens.get(request.accessToken));
      if (identity === null) return now({ failure: 'denied', detail: 'the token is no longer valid' });
      return now({ tokens: null, userInfo: userInfo(identity) });
    }
    case 'logout':
      return now({ url: request.returnUrl });
    case 'keys':
      return now({ failure: 'unreachable', detail: 'simulated providers have no keys' });
  }
}

/** Tokens as from a client library: what the library would reject is a failure here too. */
function tokensOf(answer: TokenAnswer, issuer: string, nowMs: number): Timed<OidcAnswer> {
  if ('error' in answer) {
    const failure = answer.status >= 500 ? 'unreachable' : 'denied';
    return now({ failure, detail: answer.error });
  }
  const { identity, grant, access, refresh } = answer;
  const { misbehave } = identity;
  if (misbehave === 'slow')
    return {
      given: { failure: 'timeout', detail: `no response within ${TIMEOUT_MS} ms` },
      afterMs: Math.min(SLOW_MS, TIMEOUT_MS),
    };
  if (misbehave === 'bad_signature' || misbehave === 'unsigned')
    return now({ failure: 'invalid', detail: 'the signature of the ID token is not that of the provider' });
  const asked = { ...grant, issuer: misbehave === 'wrong_issuer' ? grant.issuer : issuer };
  const claims = idClaims({ ...answer, grant: asked }, nowMs);
  const token = `simulated.${identity.key}.${claims['iat'] as number}`;
  return now({
    tokens: {
      access,
      refresh,
      id: { token, algorithm: 'ES256', type: 'JWT', claims },
      expiresInSeconds: TOKEN_SECONDS,
    },
    userInfo: userInfo(identity),
  });
}

function now<T>(given: T): Timed<T> {
  return { given, afterMs: 0 };
}

/** Host and path of the real provider for a URL. */
function placeOf({ href, host, pathname }: URL): string {
  return href.startsWith(STAND_IN) ? pathname.slice('/as/'.length) : host + pathname;
}

function fetched(idp: DevelopmentIdp, request: FetchRequest, nowMs: number): Timed<Answers['fetch']> | null {
  const url = URL.parse(request.url);
  if (url === null) return null;
  const place = placeOf(url);
  if (url.protocol !== 'https:' || !(isApi(place) || TOKEN_PATHS.has(place))) return null;
  const target = `/as/${place}${url.search}`;
  const body = request.body === null ? '' : new TextDecoder().decode(request.body);
  const answer = idp.handle({ method: request.method, target, headers: request.headers, body }, nowMs);
  if (answer.afterMs > request.timeoutMs)
    return {
      given: { failure: 'timeout', detail: `no response within ${request.timeoutMs} ms` },
      afterMs: request.timeoutMs,
    };
  const { status, headers, afterMs } = answer;
  const bytes = new TextEncoder().encode(answer.body);
  const isStandIn = url.href.startsWith(STAND_IN);
  const own = isStandIn ? headers : headers.map((text) => text.replaceAll(STAND_IN, 'https://'));
  return { given: { status, headers: own, body: bytes, resolvedIp: '', timeMs: afterMs }, afterMs };
}

/** The SAML provider of a simulation: it replaces any real one, with signatures that only it can verify. */
interface SimulatedSaml {
  /** `provider` is the entity id of the replaced provider. */
  readonly approve: (location: string, identity: string, provider: string) => SimulatedForm | null;
  readonly verify: (request: SignatureRequest) => Answers['signature'];
}

interface SimulatedForm {
  readonly url: string;
  readonly body: string;
}

const KEPT = 1_000;

/** Replaces a signature, because a real one would need the private key of the real provider. */
const NO_SIGNATURE: Signer = {
  sign: () => Buffer.from('simulated').toString('base64'),
  certificate: keyInfo({ privateKeyPem: '', certificatePem: '' }),
};

/** Creates the provider; it remembers its responses, so that only those verify. */
function simulatedSaml(
  identities: () => ReadonlyMap<string, Identity>,
  nowMs: () => number,
  newSecret: () => string,
): SimulatedSaml {
  const said = new Map<string, string>();
  return {
    approve: (location, key, provider) => {
      const query = URL.parse(location)?.searchParams;
      const encoded = query?.get('SAMLRequest') ?? null;
      const identity = identities().get(key);
      if (query === undefined || encoded === null || identity === undefined) return null;
      const asked = readLoginRequest(encoded, query.get('RelayState'));
      if (typeof asked === 'string') return null;
      const signers = { right: NO_SIGNATURE, wrong: NO_SIGNATURE };
      const answer = samlResponse(identity, asked, provider, nowMs(), () => `_${newSecret()}`, signers);
      if (answer === null) return null;
      if (identity.misbehave !== 'bad_signature') said.set(answer.xml, answer.assertion);
      for (const oldest of said.keys()) {
        if (said.size <= KEPT) break;
        said.delete(oldest);
      }
      const body = new URLSearchParams({ SAMLResponse: Buffer.from(answer.xml, 'utf8').toString('base64') });
      const relay = asked.relayState;
      if (relay !== null) body.set('RelayState', returnedState(identity, relay));
      return { url: asked.acsUrl, body: body.toString() };
    },
    verify: ({ xml, ids }) => {
      const assertion = said.get(xml);
      return assertion === undefined || ids.length !== 1
        ? { failure: 'invalid', detail: 'the simulated provider did not sign this' }
        : { signed: [assertion] };
    },
  };
}
