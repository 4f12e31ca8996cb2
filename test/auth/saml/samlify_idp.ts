import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { newSigningIdentity } from '../../../src/crypto/issue_certificate.ts';

interface Party {
  readonly entityMeta: {
    readonly getAssertionConsumerService: (binding: string) => string;
    readonly getEntityID: () => string;
  };
  readonly getMetadata: () => string;
  readonly createLoginResponse: (
    sp: Party,
    request: object,
    binding: 'post',
    user: object,
    template: () => { id: string; context: string },
  ) => Promise<{ context: string }>;
  readonly parseLoginRequest: (sp: Party, binding: string, request: object) => Promise<{ extract: unknown }>;
  readonly createLogoutRequest: (
    sp: Party,
    binding: string,
    user: object,
    relayState?: string,
  ) => { context: string };
  readonly parseLogoutRequest: (sp: Party, binding: string, request: object) => Promise<{ extract: unknown }>;
  readonly parseLogoutResponse: (
    sp: Party,
    binding: string,
    request: object,
  ) => Promise<{ extract: unknown }>;
}

/** The package's types import those of a package without types. */
const { IdentityProvider, ServiceProvider, setSchemaValidator } = createRequire(import.meta.url)(
  'samlify',
) as {
  IdentityProvider: (settings: object) => Party;
  ServiceProvider: (settings: object) => Party;
  setSchemaValidator: (validator: object) => void;
};

/** samlify checks schemas with a separate package, which is not used here. */
setSchemaValidator({ validate: async () => 'unchecked' });

interface User {
  readonly nameId: string;
  readonly email: string;
  readonly groups: readonly string[];
}

/** What the identity provider does differently, for one test. */
interface Whims {
  readonly user?: Partial<User>;
  readonly change?: (xml: string) => string;
  readonly status?: string;
  readonly sessionUntilMs?: number;
  readonly authnMs?: number;
}

const PERSISTENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
export const idpKey = newSigningIdentity('samlify', Date.now());
const key = idpKey;
/** Responses of all of them, so that no two have the same id. */
let responses = 0;

/** An identity provider made of samlify: an independent party that reads our messages and signs its own. */
export function samlifyIdp(base: string, nowMs: () => number, binding: 'redirect' | 'post' = 'redirect') {
  const redirect = { Binding: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect', Location: `${base}/sso` };
  const post = { Binding: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST', Location: `${base}/sso` };
  const idp = IdentityProvider({
    entityID: `${base}/metadata`,
    signingCert: key.certificatePem,
    privateKey: key.privateKeyPem,
    nameIDFormat: [PERSISTENT],
    singleSignOnService: binding === 'redirect' ? [redirect, post] : [post],
    singleLogoutService: [{ ...redirect, Location: `${base}/slo` }],
    wantAuthnRequestsSigned: true,
    wantLogoutRequestSigned: true,
    wantLogoutResponseSigned: true,
  });
  const state = {
    whims: {} as Whims,
    requests: [] as string[],
    logouts: [] as string[],
    problems: [] as string[],
  };
  const at = (offsetMs: number): string => new Date(nowMs() + offsetMs).toISOString();

  /** The response to a request, as a form brings it. */
  async function respond(spMetadata: string, inResponseTo: string | null): Promise<string> {
    const { user = {}, change = (xml) => xml, status, sessionUntilMs, authnMs = nowMs() } = state.whims;
    const { nameId = 'ann', email = 'ann@example.test', groups = ['staff'] } = user;
    const sp = ServiceProvider({ metadata: spMetadata });
    const acs = sp.entityMeta.getAssertionConsumerService('post');
    const answers = inResponseTo === null ? '' : ` InResponseTo="${inResponseTo}"`;
    const session =
      sessionUntilMs === undefined ? '' : ` SessionNotOnOrAfter="${new Date(sessionUntilMs).toISOString()}"`;
    const values = [
      ['email', [email]],
      ['groups', groups],
    ] as const;
    const xml = (id: string): string =>
      `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${id}" Version="2.0" IssueInstant="${at(0)}" Destination="${acs}"${answers}>` +
      `<saml:Issuer>${base}/metadata</saml:Issuer><samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:${status ?? 'Success'}"/></samlp:Status>` +
      `<saml:Assertion xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xs="http://www.w3.org/2001/XMLSchema" ID="${id}a" Version="2.0" IssueInstant="${at(0)}"><saml:Issuer>${base}/metadata</saml:Issuer>` +
      `<saml:Subject><saml:NameID Format="${PERSISTENT}">${nameId}</saml:NameID><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData NotOnOrAfter="${at(300_000)}" Recipient="${acs}"${answers}/></saml:SubjectConfirmation></saml:Subject>` +
      `<saml:Conditions NotBefore="${at(0)}" NotOnOrAfter="${at(300_000)}"><saml:AudienceRestriction><saml:Audience>${sp.entityMeta.getEntityID()}</saml:Audience></saml:AudienceRestriction></saml:Conditions>` +
      `<saml:AuthnStatement AuthnInstant="${new Date(authnMs).toISOString()}" SessionIndex="index-${nameId}"${session}/>` +
      `<saml:AttributeStatement>${values.map(([name, all]) => `<saml:Attribute Name="${name}">${all.map((value) => `<saml:AttributeValue xsi:type="xs:string">${value}</saml:AttributeValue>`).join('')}</saml:Attribute>`).join('')}</saml:AttributeStatement></saml:Assertion></samlp:Response>`;
    const id = `_response${++responses}`;
    const made = await idp.createLoginResponse(
      sp,
      { extract: { request: { id: inResponseTo ?? '' } } },
      'post',
      { email },
      () => ({
        id,
        context: xml(id),
      }),
    );
    return Buffer.from(change(Buffer.from(made.context, 'base64').toString('utf8'))).toString('base64');
  }

  /** Reads a login request with samlify, signature and all, and gives the id that it wants answered. */
  async function readRequest(spMetadata: string, url: string, body?: string): Promise<string> {
    const sp = ServiceProvider({ metadata: spMetadata });
    const query = new URLSearchParams(body ?? new URL(url).search);
    const octetString = new URL(url).search.slice(1).replace(/&Signature=.*$/, '');
    const read =
      body === undefined
        ? await idp.parseLoginRequest(sp, 'redirect', {
            query: {
              SAMLRequest: query.get('SAMLRequest')!,
              SigAlg: query.get('SigAlg')!,
              Signature: encodeURIComponent(query.get('Signature')!),
            },
            octetString,
          })
        : await idp.parseLoginRequest(sp, 'post', {
            body: { SAMLRequest: query.get('SAMLRequest')! },
          });
    const { request } = read.extract as { request: { id: string } };
    state.requests.push(JSON.stringify(read.extract));
    return request.id;
  }

  const parsed = (url: string) => ({
    query: Object.fromEntries(
      [...new URL(url).searchParams].map(([name, value]) => [
        name,
        name === 'Signature' ? encodeURIComponent(value) : value,
      ]),
    ),
    octetString: new URL(url).search.slice(1).replace(/&Signature=.*$/, ''),
  });

  /** Reads a logout request of ours with samlify, signature and all. */
  async function readLogout(spMetadata: string, url: string): Promise<unknown> {
    return (await idp.parseLogoutRequest(ServiceProvider({ metadata: spMetadata }), 'redirect', parsed(url)))
      .extract;
  }

  /** Reads our answer to a logout request. */
  async function readLogoutAnswer(spMetadata: string, url: string): Promise<unknown> {
    const { extract } = await idp.parseLogoutResponse(
      ServiceProvider({ metadata: spMetadata }),
      'redirect',
      parsed(url),
    );
    return (extract as { response: unknown }).response;
  }

  return { idp, state, respond, readRequest, readLogout, readLogoutAnswer, metadata: idp.getMetadata() };
}

type SamlifyIdp = ReturnType<typeof samlifyIdp>;

/** The form that a person's browser sends on by itself. */
export function formOf(acs: string, response: string, relayState: string | null): string {
  const field = (name: string, value: string): string =>
    `<input type="hidden" name="${name}" value="${value.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"/>`;
  const relay = relayState === null ? '' : field('RelayState', relayState);
  return `<form method="post" action="${acs}">${field('SAMLResponse', response)}${relay}</form>`;
}

/** Serves such a provider over HTTP; `spMetadata` is called at the first request. */
export async function serveSamlify(
  spMetadata: () => Promise<string>,
  binding: 'redirect' | 'post' = 'redirect',
) {
  let party: SamlifyIdp | null = null;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const page = answer(request.url ?? '/', Buffer.concat(chunks).toString('utf8'));
      void page.then((text) => response.writeHead(200, { 'content-type': 'text/html' }).end(text));
    });
  });
  async function answer(target: string, body: string): Promise<string> {
    const url = new URL(target, 'http://127.0.0.1').href;
    const parameters = new URLSearchParams(body === '' ? new URL(url).search : body);
    try {
      const metadata = await spMetadata();
      if (target.startsWith('/slo')) {
        party!.state.logouts.push(target);
        return 'logged out';
      }
      const id = await party!.readRequest(metadata, url, body === '' ? undefined : body);
      const acs = ServiceProvider({ metadata }).entityMeta.getAssertionConsumerService('post');
      return formOf(acs, await party!.respond(metadata, id), parameters.get('RelayState'));
    } catch (error) {
      party!.state.problems.push(String(error));
      return `refused: ${String(error)}`;
    }
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  party = samlifyIdp(base, Date.now, binding);
  return {
    ...party,
    base,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
