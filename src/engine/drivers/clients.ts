import { verify } from '../../clients/network.ts';
import type { UpstreamClient } from '../../io/ports.ts';
import type { FetchRequest } from '../contract.ts';
import type { Answers, AnswerTo, Question, Reply } from '../questions.ts';
import type { OidcQuestion } from '../oidc_question.ts';
import type { SharedRequest } from '../shared_question.ts';
import { WITHOUT_NETWORK } from './whole_bodies.ts';

/** What the live driver uses to answer questions. */
export interface Clients {
  readonly upstream: UpstreamClient;
  /** Makes control requests; without it they fail. */
  readonly fetch?: (request: FetchRequest, gone: AbortSignal) => Promise<Answers['fetch']>;
  /** Asks OpenID providers. */
  readonly oidc?: (question: OidcQuestion) => Promise<Answers['oidc']>;
  /** Asks the state that nodes share; answers within a bound, and never rejects. */
  readonly shared?: (request: SharedRequest) => Answers['shared'] | Promise<Answers['shared']>;
  /** Maximum silence of an upgraded connection, in ms; 0 for no limit. */
  readonly tunnelIdleMs: number;
  /** Aborted when the edge stops: upgraded connections and event streams end then. */
  readonly stop?: AbortSignal;
}

/** Questions that neither the request nor its upstream answers, but another server or a library. */
export type NetworkQuestion = Exclude<
  Question,
  { ask: 'forward' | 'reply' | 'body' | 'response_body' | 'shared' }
>;

/** Passes a question to its client; `gone` cancels it. */
export async function answerFromNetwork(
  question: NetworkQuestion,
  { fetch, oidc }: Clients,
  gone: AbortSignal,
): Promise<AnswerTo<Question>> {
  switch (question.ask) {
    case 'fetch':
      return fetch === undefined ? WITHOUT_NETWORK.fetch : fetch(question.request, gone);
    case 'oidc':
      return oidc === undefined ? WITHOUT_NETWORK.oidc : oidc(question);
    case 'signature':
      return verify(question.request);
  }
}

/** The response when a bug prevents the engine's own page. */
export const BUG: Reply = {
  status: 500,
  headers: ['content-type', 'text/plain; charset=utf-8', 'cache-control', 'no-store'],
  body: { text: 'the edge failed\n' },
  compress: null,
  upgrade: false,
  close: false,
};
