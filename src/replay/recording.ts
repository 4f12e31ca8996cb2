import type { HttpRequestComplete } from '../events/catalogue.ts';

/**
 * The format of a recording: NDJSON with a head line, then one exchange per line. Field lists are `[name,
 * value, name, value, …]` as everywhere; times are RFC 3339. docs/replay.md describes it.
 */
const RECORDING_VERSION = 1;

export interface RecordingHead {
  readonly edgeproof_recording: number;
  readonly created: string;
  /** Names whose values are redacted: of headers, query parameters and members of bodies. */
  readonly redacts: readonly string[];
  /** Maximum number of bytes kept of one body. */
  readonly body_limit: number;
}

/** A body, or its beginning. `bytes` is its total size, whatever was kept; null if it was not counted. */
export interface RecordedBody {
  readonly bytes: number | null;
  /** The kept part: `text` if it is valid UTF-8, otherwise base64. Both are absent if nothing was kept. */
  readonly text?: string;
  readonly base64?: string;
  /** Only the beginning was kept. */
  readonly truncated?: true;
  /** Values in it were redacted. */
  readonly redacted?: true;
}

interface RecordedRequest {
  readonly method: string;
  readonly scheme: 'http' | 'https';
  /** As sent, path and query. */
  readonly target: string;
  readonly version: '1.0' | '1.1' | '2.0';
  readonly headers: readonly string[];
  readonly body: RecordedBody;
}

export interface RecordedResponse {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: RecordedBody;
}

interface RecordedClient {
  readonly ip: string;
  readonly port: number;
  readonly server_ip: string;
  readonly server_port: number;
  readonly server_name: string;
  readonly connected: string;
  readonly tls: {
    readonly version: string;
    readonly cipher_suite: string;
    readonly client_certificate: { readonly serial_number: string; readonly subject_cn: string } | null;
  } | null;
}

/** A request to an upstream, and its response. */
export interface RecordedForward {
  readonly backend: string;
  /** Host and port, or the id of the agent's tunnel. */
  readonly address: string;
  readonly target: string;
  readonly headers: readonly string[];
  readonly response: RecordedResponse | null;
  readonly failure?: string;
  /** Nothing of a response arrived, and another tunnel could be tried. */
  readonly repeatable?: true;
  readonly reused: boolean;
}

/** A request of the edge's own: keys, certificates, `http-request`. */
export interface RecordedFetch {
  readonly method: string;
  readonly url: string;
  readonly response: RecordedResponse | null;
  readonly failure?: string;
}

/** One step of the trace, shortened. */
interface RecordedStep {
  readonly module: string;
  readonly verdict: 'pass' | 'stop';
  readonly code: string;
  readonly pointer: string | null;
}

export interface RecordedExchange {
  readonly at: string;
  readonly request: RecordedRequest;
  readonly client: RecordedClient;
  /** The backend of its route, and those in it that could be tried, in order; absent in older recordings. */
  readonly backend?: { readonly id: string | null; readonly candidates: readonly string[] };
  /** URL of the endpoint of an agent that it reached, directly or by `forward-internal`; edge files do not have it. */
  readonly agent_endpoint?: string;
  readonly forwards: readonly RecordedForward[];
  readonly fetches: readonly RecordedFetch[];
  /** Null if the client got none. */
  readonly response: RecordedResponse | null;
  /** The event's object as delivered, redacted. */
  readonly event: HttpRequestComplete;
  readonly trace: readonly RecordedStep[];
  /** Places of redacted values, such as `request.headers.authorization`; empty if nothing was redacted. */
  readonly redactions: readonly string[];
}

/** The head of a new recording. */
export function recordingHead(nowMs: number, redacts: readonly string[], bodyLimit: number): RecordingHead {
  return {
    edgeproof_recording: RECORDING_VERSION,
    created: new Date(nowMs).toISOString(),
    redacts,
    body_limit: bodyLimit,
  };
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** A body as recorded: at most `limitBytes` of it. */
export function recordedBody(
  bytes: Uint8Array | null,
  wholeBytes: number | null,
  limitBytes: number,
): RecordedBody {
  if (bytes === null) return { bytes: wholeBytes };
  const size = wholeBytes ?? bytes.length;
  const kept = bytes.length > limitBytes ? bytes.subarray(0, limitBytes) : bytes;
  const cut = kept.length < size ? ({ truncated: true } as const) : {};
  if (kept.length === 0) return { bytes: size, ...cut, ...(size === 0 && { text: '' }) };
  // A limit may be within a character.
  const text = textOf(kept) ?? (kept.length < size ? textOf(wholeCharacters(kept)) : null);
  return text === null
    ? { bytes: size, base64: Buffer.from(kept).toString('base64'), ...cut }
    : { bytes: size, text, ...cut };
}

/** Without the character at the end that is not complete; UTF-8 has at most four bytes for one. */
function wholeCharacters(bytes: Uint8Array): Uint8Array {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && (bytes[start]! & 0xc0) === 0x80) start--;
  return bytes.subarray(0, Math.max(0, start));
}

function textOf(bytes: Uint8Array): string | null {
  try {
    return UTF8.decode(bytes);
  } catch {
    return null;
  }
}

/** The bytes of a recorded body; null if it was truncated or redacted. */
export function bytesOf(body: RecordedBody): Uint8Array | null {
  if (body.truncated === true || body.redacted === true) return null;
  if (body.text !== undefined) return new TextEncoder().encode(body.text);
  if (body.base64 !== undefined) return new Uint8Array(Buffer.from(body.base64, 'base64'));
  return body.bytes === 0 ? new Uint8Array(0) : null;
}
