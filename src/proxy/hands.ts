import type { UpstreamClient } from '../answers/port.ts';
import type { Answers, AnswerTo, FetchRequest, Question, Reply } from '../engine/contract.ts';
import type { OidcQuestion } from '../engine/oidc_question.ts';

/** What the driver needs besides the engine: its hands. */
export interface Hands {
  readonly upstream: UpstreamClient;
  /** Control requests of handlers; without it they are answered by a failure. */
  readonly fetch?: (request: FetchRequest, gone: AbortSignal) => Promise<Answers['fetch']>;
  /** Asks OpenID providers. */
  readonly oidc?: (question: OidcQuestion) => Promise<Answers['oidc']>;
  /** Longest silence of an upgraded connection, in ms; 0 for no limit. */
  readonly tunnelIdleMs: number;
}

/** Questions whose answer is far away: neither in the request nor at its upstream. */
export type FarQuestion = Exclude<Question, { ask: 'forward' | 'reply' | 'body' | 'response_body' }>;

/** Asks whoever knows; `gone` gives the question up. */
export async function answerFromAfar(
  question: FarQuestion,
  { fetch, oidc }: Hands,
  gone: AbortSignal,
): Promise<AnswerTo<Question>> {
  switch (question.ask) {
    case 'fetch':
      if (fetch === undefined) {
        return { failure: 'connect', detail: 'this listener makes no control requests' };
      }
      return fetch(question.request, gone);
    case 'oidc':
      if (oidc === undefined)
        return { failure: 'unreachable', detail: 'no provider is asked without a driver' };
      return oidc(question);
    case 'signature':
      // The library is loaded by those who meet it: it costs more than most requests.
      return (await import('../answers/saml.ts')).verifySignatures(question.request);
  }
}

/** For a bug in the way of the engine's own page. */
export const BUG: Reply = {
  status: 500,
  headers: ['content-type', 'text/plain; charset=utf-8', 'cache-control', 'no-store'],
  body: { text: 'the edge failed\n' },
  compress: null,
  upgrade: false,
  close: false,
};
