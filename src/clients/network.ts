import type { FetchRequest, SignatureRequest } from '../engine/contract.ts';
import type { Answers } from '../engine/questions.ts';
import type { OidcQuestion } from '../engine/oidc_question.ts';
import { lazyLoad, requireFirst } from '../loading/lazy_load.ts';
import type { ControlClient, Fetcher } from './fetch.ts';
import type { OidcAnswers } from './oidc.ts';

/** Clients whose libraries are large and rarely needed; each is loaded on first use. */

const fetcher = lazyLoad(newFetcher);
const oidcClient = lazyLoad(async (): Promise<OidcAnswers> => {
  const [{ createOidcAnswers }, { oidcFetch }] = await Promise.all([
    import('./oidc.ts'),
    import('./oidc_fetch.ts'),
  ]);
  return createOidcAnswers(oidcFetch(await fetcher.get()));
});

/** Queries OpenID providers; their metadata is cached for the process. */
export async function askProviders(question: OidcQuestion): Promise<Answers['oidc']> {
  return (await oidcClient.get()).ask(question);
}

async function fetchAlone(request: FetchRequest): Promise<Answers['fetch']> {
  return (await fetcher.get()).fetch(request, new AbortController().signal);
}

/** Verifies XML signatures. */
export async function verify(request: SignatureRequest): Promise<Answers['signature']> {
  requireFirst('@node-saml/node-saml/lib/xml.js', '@xmldom/xmldom', 'xml-crypto');
  return (await import('./saml_signatures.ts')).verifySignatures(request);
}

/** The fetcher of a listener, loaded on first use: undici takes 30 MB and 200 ms. */
export function lazyFetcher(): Fetcher {
  const late = lazyLoad(newFetcher);
  return {
    fetch: async (request, gone) => (await late.get()).fetch(request, gone),
    close: async () => (await late.ifBegun())?.close(),
  };
}

async function newFetcher(): Promise<ControlClient> {
  requireFirst('undici');
  return (await import('./fetch.ts')).createFetcher();
}

/** All clients, for an exchange without a listener. */
export function networkClients() {
  return { oidc: askProviders, fetch: fetchAlone, verify };
}
