import { WIRE_LIMITS } from '../http/message_limits.ts';
import type { HeadLimits } from './request_head.ts';

/** Limits of an HTTP/2 connection. */

/** A longer head gets 431. */
export const HTTP2_HEAD: HeadLimits = {
  headBytes: 131_072,
  fields: 500,
  targetBytes: WIRE_LIMITS.targetBytes,
};

/** Above the ceiling, fields are not kept; a header block that is longer, compressed, ends the connection. */
export const HEAD_CEILING_BYTES = 262_144;

/**
 * Unread content of one stream, in bytes, from a client and from an upstream. The window of a connection is returned when
 * content arrives, read or not, by us and by Node, so that only the windows of streams bound it.
 */
export const CLIENT_STREAM_BYTES = 65_536;
export const UPSTREAM_STREAM_BYTES = 262_144;
/** Content in flight on a connection, in bytes, from a client and from an upstream. */
export const CLIENT_CONNECTION_BYTES = 1_048_576;
export const UPSTREAM_CONNECTION_BYTES = 4_194_304;

/** Streams that a client may have open at once. */
export const CONCURRENT_STREAMS = 128;

/**
 * Responses that are complete but not with the system yet, because the client reads too little. They no longer count as
 * open; with more of them, the edge reads no further requests.
 */
export const UNSENT_STREAMS = 256;

/**
 * Maximum number of frames without content, of a connection in a time window, beyond the frames of its responses: PING,
 * SETTINGS, PRIORITY, unknown ones, empty DATA, and frames for streams that are closed.
 */
export const CONTROL = { frames: 500, windowMs: 10_000 } as const;

/**
 * Maximum number of streams that end before their response because of the client, in the same window: it resets them
 * (CVE-2023-44487), makes us reset them (CVE-2025-8671), or opens more than it may.
 */
export const RESETS = 300;
