import { endsAtHead } from '../../http/bodyless.ts';
import { contentLength } from '../../http/content_length.ts';
import type { ResponseHead } from '../contract.ts';
import type { Answers, Reply, Sent, UpstreamRequest } from '../questions.ts';
import { WITHOUT_PROVIDERS } from '../oidc_question.ts';
import { NO_BYTES, type ReplyContent, type WholeBody, wholeContent } from './reply_content.ts';

const NO_BODY: WholeBody = { bytes: NO_BYTES, lengthBytes: 0, isCut: false };

/** The answers of a driver without a network to the questions that need one. */
export const WITHOUT_NETWORK = {
  fetch: { failure: 'connect', detail: 'control requests need a driver with a network' },
  oidc: WITHOUT_PROVIDERS,
  signature: { failure: 'unavailable', detail: 'signatures need a driver that verifies them' },
  shared: { unavailable: 'local', detail: 'this driver shares no state' },
} as const satisfies { readonly [Ask in 'fetch' | 'oidc' | 'signature' | 'shared']: Answers[Ask] };

/** The answer to a question about a body that is in memory. */
export function bounded(
  bytes: Uint8Array,
  limitBytes: number,
): { readonly bytes: Uint8Array } | { readonly failure: 'too_large' } {
  return bytes.length > limitBytes ? { failure: 'too_large' } : { bytes };
}

/** The bodies of one exchange where they are in memory: what is left to a driver is what its upstreams answer. */
export class WholeBodies {
  readonly #request: Uint8Array;
  /** Bytes of the request body that were read, as a server reads them: not before they are needed. */
  #requestBytes = 0;
  #upstream: WholeBody = NO_BODY;

  constructor(request: Uint8Array) {
    this.#request = request;
  }

  /** Answers `body`. */
  request(limitBytes: number): Answers['body'] {
    const answer = bounded(this.#request, limitBytes);
    if ('bytes' in answer) this.#requestBytes = answer.bytes.length;
    return answer;
  }

  /** The body that the upstream gets. */
  forwarded({ body }: UpstreamRequest): Uint8Array {
    if (body === null) this.#requestBytes = this.#request.length;
    return body ?? this.#request;
  }

  /** Keeps the body of an upstream's response; one that ends with its head has none, whatever the script gives. */
  keep(request: UpstreamRequest, { status, headers }: ResponseHead, bytes: Uint8Array, isCut = false): void {
    const isEmpty = endsAtHead(request.method === 'HEAD', status);
    this.#upstream = isEmpty
      ? NO_BODY
      : { bytes, lengthBytes: contentLength(headers) === null ? null : bytes.length, isCut };
  }

  /** Answers `response_body`. */
  response(limitBytes: number): Answers['response_body'] {
    const { bytes, isCut } = this.#upstream;
    return isCut ? { failure: 'reset' } : bounded(bytes, limitBytes);
  }

  /** The content of a reply, and the answer to `reply`. */
  reply(reply: Reply, method: string): { readonly content: ReplyContent; readonly sent: Sent } {
    const content = reply.close ? NO_REPLY : wholeContent(reply, method, this.#upstream);
    const sent: Sent = {
      requestBytes: this.#requestBytes,
      responseBytes: content.bytes.length,
      rawResponseBytes: content.raw.length,
      cut: content.isCut ? 'upstream' : 'none',
    };
    return { content, sent };
  }
}

const NO_REPLY: ReplyContent = {
  framing: { lengthBytes: null, content: false },
  bytes: NO_BYTES,
  raw: NO_BYTES,
  isCut: false,
};
