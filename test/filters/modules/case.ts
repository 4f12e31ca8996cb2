import type { TlsFacts } from '../../../src/engine/contract.ts';
import type { Answers } from '../../../src/engine/questions.ts';
import type { RequestLike } from '../../../src/engine/request_like.ts';

/** One request in a case: its head, its client, the upstream's response, and the expected result. */
export interface Exchanged {
  readonly request?: Partial<RequestLike>;
  readonly clientIp?: string;
  readonly tls?: TlsFacts;
  readonly upstream?: Answers['forward'];
  /** Virtual milliseconds that pass before it. */
  readonly afterMs?: number;
  readonly random?: number;
  readonly expect: {
    readonly status: number;
    /** Reason code of the module under test. */
    readonly code: string;
    readonly backend?: string | null;
    /** Fields of the upstream request, or of the response, that must (or, null, must not) be there. */
    readonly upstreamHeaders?: Readonly<Record<string, string | null>>;
    readonly responseHeaders?: Readonly<Record<string, string | null>>;
  };
}

export interface Case {
  readonly name: string;
  readonly config: object;
  readonly exchanges: readonly Exchanged[];
}
