import type { ServerSessionOptions } from 'node:http2';
import { WIRE_LIMITS } from '../http/message_limits.ts';
import type { HeadLimits } from './request_head.ts';

/** Limits of an HTTP/2 connection. nghttp2 enforces those below, the rest is ours. */

/** A longer head gets 431; above the ceiling the stream is reset before the head is parsed. */
export const HTTP2_HEAD: HeadLimits = {
  headBytes: 131_072,
  fields: 500,
  targetBytes: WIRE_LIMITS.targetBytes,
};

const HEAD_CEILING_BYTES = 262_144;
const FIELDS_CEILING = 1_000;

/**
 * Unread content of one stream, in bytes, from a client and from an upstream. Node returns the window of a connection
 * when content arrives, read or not, so that only the windows of streams bound it.
 */
const CLIENT_STREAM_BYTES = 65_536;
export const UPSTREAM_STREAM_BYTES = 262_144;
/** Content in flight on a connection with a client, in bytes. */
export const CONNECTION_WINDOW_BYTES = 1_048_576;

/** Maximum number of ping, settings and priority frames, together, of a connection in a time window. */
export const CONTROL = { frames: 500, windowMs: 10_000 } as const;

/**
 * Maximum number of streams that a client resets before the end of their response, in the same window (CVE-2023-44487).
 */
export const RESETS = 300;

export const SESSION: ServerSessionOptions = {
  settings: {
    maxConcurrentStreams: 128,
    initialWindowSize: CLIENT_STREAM_BYTES,
    maxHeaderListSize: HEAD_CEILING_BYTES,
    enableConnectProtocol: true, // RFC 8441
    enablePush: false,
  },
  maxHeaderListPairs: FIELDS_CEILING,
  maxSessionInvalidFrames: 100,
  maxSessionRejectedStreams: 100,
  maxOutstandingPings: 10,
  maxSettings: 32,
  maxSessionMemory: 32,
  streamResetBurst: 600,
  streamResetRate: 60,
  // Repeated fields that should be single are passed on, as in HTTP/1.1.
  strictSingleValueFields: false,
};
