import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The part of `oidc-provider` that is used; its own types need others that do not fit together. */
interface Provider {
  readonly callback: () => (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly interactionDetails: (
    request: IncomingMessage,
    response: ServerResponse,
  ) => Promise<{ readonly params: Record<string, unknown>; readonly prompt: { readonly name: string } }>;
  readonly interactionFinished: (
    request: IncomingMessage,
    response: ServerResponse,
    result: object,
  ) => Promise<void>;
  readonly Grant: new (about: { accountId: string; clientId: string }) => {
    addOIDCScope(scope: string): void;
    save(): Promise<string>;
  };
}

const PACKAGE: string = 'oidc-provider';
const { Provider: RealProvider } = (await import(PACKAGE)) as {
  readonly Provider: new (issuer: string, configuration: object) => Provider;
};

/** Users of the provider. */
const USERS = {
  alice: {
    sub: 'alice',
    name: 'Alice Ångström',
    email: 'alice@example.test',
    email_verified: true,
    groups: ['staff'],
  },
  bob: { sub: 'bob', name: 'Bob', email: 'bob@example.test', email_verified: false },
} as const;

export interface RealOp {
  readonly issuer: string;
  /** Who is logged in next; null refuses. */
  user: keyof typeof USERS | null;
  readonly provider: Provider;
  readonly close: () => Promise<void>;
}

export const CLIENT = { client_id: 'edge', client_secret: 'a-secret-of-more-than-thirty-two-bytes' };

/** A real OpenID provider on loopback that logs in the next user without asking. */
export async function realOp(
  redirectUris: readonly string[],
  {
    backchannel,
    port = 0,
    ...more
  }: { backchannel?: string; port?: number; jwks?: object; fetch?: unknown } = {},
): Promise<RealOp> {
  const server: Server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const origin = new URL(redirectUris[0]!).origin;
  const provider = new RealProvider(issuer, {
    clients: [
      {
        ...CLIENT,
        redirect_uris: [...redirectUris],
        grant_types: ['authorization_code', 'refresh_token'],
        post_logout_redirect_uris: [`${origin}/auth/signed_out`],
        backchannel_logout_uri: backchannel ?? `${origin}/auth/backchannel_logout`,
        backchannel_logout_session_required: true,
      },
    ],
    claims: { openid: ['sub', 'sid'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: { enabled: true },
    },
    pkce: { required: () => true },
    cookies: { keys: ['keys of cookies in a test'] },
    ttl: {
      AccessToken: 3600,
      IdToken: 3600,
      RefreshToken: 86_400,
      Session: 86_400,
      Grant: 86_400,
      Interaction: 600,
    },
    findAccount: (_ctx: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ ...USERS[id as keyof typeof USERS] }),
    }),
    renderError: (ctx: { body: unknown }, out: unknown) => {
      ctx.body = JSON.stringify(out);
    },
    interactions: { url: (_ctx: unknown, interaction: { uid: string }) => `/interaction/${interaction.uid}` },
    ...more,
  });
  const op: RealOp = {
    issuer,
    user: 'alice',
    provider,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  const callback = provider.callback();
  server.on('request', (request, response) => {
    if (!request.url!.startsWith('/interaction/')) return void callback(request, response);
    void (async () => {
      const { params, prompt } = await provider.interactionDetails(request, response);
      if (op.user === null) {
        const denial = { error: 'access_denied', error_description: 'the user denied it' };
        return provider.interactionFinished(request, response, denial);
      }
      if (prompt.name === 'login') {
        return provider.interactionFinished(request, response, { login: { accountId: op.user } });
      }
      const grant = new provider.Grant({ accountId: op.user, clientId: String(params['client_id']) });
      grant.addOIDCScope(String(params['scope']));
      return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
    })();
  });
  return op;
}
