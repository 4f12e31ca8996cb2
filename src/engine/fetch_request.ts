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
   * Whether it may reach this machine and its network. If not, every dialled address is checked after each DNS
   * lookup and each redirect.
   */
  readonly allowPrivate: boolean;
  /** Whether a redirect from https, or from this machine, to plain http elsewhere fails: an attacker could answer there. */
  readonly staysSecure?: boolean;
  /**
   * Concurrent requests with the same text here are sent as one, and share its response. It is not cancelled
   * when one of the clients disconnects.
   */
  readonly share?: string;
  /** How many requests of one kind may be in flight; a further one fails. For URLs that senders choose. */
  readonly atMost?: { readonly of: string; readonly count: number };
}

/**
 * Signatures of an XML message for an external library to verify: all of them, each with any of these
 * certificates.
 */
export interface SignatureRequest {
  readonly xml: string;
  /** Ids of the elements with a signature of their own. */
  readonly ids: readonly string[];
  /** PEM texts of the trusted certificates. */
  readonly certificates: readonly string[];
}
