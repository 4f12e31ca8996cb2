import type { Answers, FetchRequest, SignatureRequest } from '../engine/contract.ts';
import type { OidcQuestion } from '../engine/oidc_question.ts';
import type { Fetcher } from './fetch.ts';
import type { OidcAsker } from './oidc.ts';

/** Hands that are needed seldom and whose libraries are large: each is made when it is first asked for. */

let asker: Promise<OidcAsker> | null = null;
let fetcher: Promise<Fetcher> | null = null;

/** Asks OpenID providers; what is known of them is kept for the process. */
export async function askProviders(question: OidcQuestion): Promise<Answers['oidc']> {
  asker ??= import('./oidc.ts').then(({ createOidcAsker }) => createOidcAsker());
  return (await asker).ask(question);
}

async function fetchAlone(request: FetchRequest): Promise<Answers['fetch']> {
  fetcher ??= newFetcher();
  return (await fetcher).fetch(request, new AbortController().signal);
}

async function verify(request: SignatureRequest): Promise<Answers['signature']> {
  return (await import('./saml.ts')).verifySignatures(request);
}

/** The fetcher of one listener, loaded when it is first asked: undici takes 30 MB and 200 ms. */
export function lateFetcher(): Fetcher {
  let loading: Promise<Fetcher> | null = null;
  return {
    fetch: async (request, gone) => (await (loading ??= newFetcher())).fetch(request, gone),
    close: async () => (await loading)?.close(),
  };
}

async function newFetcher(): Promise<Fetcher> {
  return (await import('./fetch.ts')).createFetcher();
}

/** All of them, for an exchange without a listener. */
export function networkHands() {
  return { oidc: askProviders, fetch: fetchAlone, verify };
}
