import type { WebhookRequest } from '../../../src/webhooks/reading.ts';

/** A library that knows a provider's scheme and that is not ours: it signs, or it verifies, or both. */
export interface SdkCase {
  readonly provider: string;
  /** Of the row's schemes, the one that the library knows. */
  readonly scheme: string;
  /** Name of the package. */
  readonly library: string;
  /** The provider publishes it; else it is another's library for the same scheme. */
  readonly isOwn: boolean;
  readonly secret: string;
  /** What the edge is given, where that differs: the public half of a key. */
  readonly checking?: string;
  readonly bodies?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  /** The request signed by the library at that time. */
  readonly sign?: (
    draft: WebhookRequest,
    secret: string,
    nowMs: number,
  ) => WebhookRequest | Promise<WebhookRequest>;
  /** Whether the library lets the request in, at the true time; throwing is refusing. */
  readonly accepts?: (request: WebhookRequest, secret: string) => boolean | Promise<boolean>;
  /** Mutants that the library lets in though we do not, by their names, each with its reason. */
  readonly lenient?: readonly (readonly [names: RegExp, why: string])[];
}
