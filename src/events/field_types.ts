/** Names are capitalised, values are in lower case (specification, table of http_request_complete.v0). */
export type NormalisedHeaders = Readonly<Record<string, readonly string[]>>;

/** `invalid`: the module did not run. */
export type ModuleDecision = 'allow' | 'block' | 'invalid';

/** Value types in events by field type. */
export interface TypeOf {
  readonly bool: boolean;
  readonly string: string;
  readonly int32: number;
  readonly int64: number;
  /** RFC 3339. */
  readonly timestamp: string;
  readonly decision: ModuleDecision;
  readonly breaker_decision: ModuleDecision | 'allow_while_open';
  readonly algorithm: 'gzip' | 'deflate' | 'none';
  readonly headers: NormalisedHeaders;
  readonly logs: readonly { readonly metadata: Readonly<Record<string, unknown>> }[];
}

export type FieldType = keyof TypeOf;

/** A row of the table of fields (`fields.ts`). */
export interface EventField {
  readonly type: FieldType;
  /** The part of the finished exchange that it is read from. */
  readonly source: 'connection' | 'handshake' | 'request' | 'response' | 'transfer' | 'upstream' | 'module';
  readonly doc: string;
  /** Whether its texts need no escaping in JSON. */
  readonly isPlain?: true;
  /** Whether the filter of an event source may read it. */
  readonly filterable?: true;
  /** Whether a replay reads it. */
  readonly replayed?: true;
  /** The module whose decision it is. */
  readonly module?: string;
  /**
   * What it is where secrets are redacted: a list of headers, a query, or a text that may begin with a URL. Secrets that
   * policies have read are redacted in every free text.
   */
  readonly redaction?: 'headers' | 'query' | 'url';
  /** The header that it repeats, in lower case: it is redacted if that is. */
  readonly header?: string;
}
