/** `http_request_complete.v0` as the specification's table has it, nested by the dots. */
export interface HttpRequestComplete {
  readonly backend: { readonly connection_reused: boolean };
  readonly basic_auth: { readonly decision: ModuleDecision; readonly username: string };
  readonly circuit_breaker: { readonly decision: ModuleDecision | 'allow_while_open' };
  readonly compression: {
    readonly algorithm: 'gzip' | 'deflate' | 'br' | 'zstd' | 'none';
    readonly bytes_saved: number;
  };
  readonly conn: {
    readonly client_ip: string;
    readonly server_ip: string;
    readonly server_name: string;
    readonly server_port: number;
    /** RFC 3339. */
    readonly start_ts: string;
  };
  readonly http: {
    readonly request: {
      readonly body_length: number;
      readonly headers: NormalisedHeaders;
      readonly method: string;
      readonly url: {
        readonly host: string;
        readonly path: string;
        readonly query: string;
        readonly raw: string;
        readonly scheme: string;
      };
      readonly user_agent: string;
    };
    readonly response: {
      readonly body_length: number;
      readonly headers: NormalisedHeaders;
      /** 0 when the client left before anything was sent. */
      readonly status_code: number;
    };
  };
  readonly ip_policy: { readonly decision: ModuleDecision };
  readonly oauth: {
    readonly app_client_id: string;
    readonly decision: ModuleDecision;
    readonly user: { readonly id: string; readonly name: string };
  };
  readonly tls: {
    readonly cipher_suite: string;
    readonly client_cert: { readonly serial_number: string; readonly subject: { readonly cn: string } };
    readonly version: string;
  };
  readonly traffic_policy: {
    readonly logs: readonly { readonly metadata: Readonly<Record<string, unknown>> }[];
  };
  readonly webhook_verification: { readonly decision: ModuleDecision };
}

/** `invalid`: the module did not run. */
export type ModuleDecision = 'allow' | 'block' | 'invalid';

/** Field names capitalised, values lower case (specification, table of http_request_complete.v0). */
export type NormalisedHeaders = Readonly<Record<string, readonly string[]>>;

/** One event as it is delivered. */
export interface EventEnvelope<Type extends string = string, Body = unknown> {
  /** `ev_` and 27 lower-case letters and digits, sortable by time. */
  readonly event_id: string;
  readonly event_type: Type;
  /** RFC 3339. */
  readonly event_timestamp: string;
  readonly object: Body;
}

export type HttpRequestCompleteEvent = EventEnvelope<'http_request_complete.v0', HttpRequestComplete>;
