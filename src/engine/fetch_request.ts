import type { FieldList } from '../http/fields.ts';

/** A control request of the edge itself: discovery, keys, certificates, `http-request`. */
export interface FetchRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: FieldList;
  readonly body: Uint8Array | null;
  readonly timeoutMs: number;
  readonly limitBytes: number;
  readonly maxRedirects: number;
  /**
   * Whether it may reach this machine and its network. If not, every address that is dialled is looked at when it is
   * known: after each look-up and each redirect.
   */
  readonly allowPrivate: boolean;
  /**
   * Requests with the same text here that are on their way at one time are one request, and its answer is theirs. It
   * is not given up when one of the clients leaves.
   */
  readonly share?: string;
}
