import type { ServerSessionOptions } from 'node:http2';
import { WIRE_LIMITS } from '../http/message_limits.ts';
import type { HeadLimits } from './request_head.ts';

/** What a client may take of one connection of HTTP/2. The ceilings below are nghttp2's to hold, the rest ours. */

/** A longer head is answered 431; above the ceiling the stream is reset before anything is known of it. */
export const HTTP2_HEAD: HeadLimits = {
  headBytes: 131_072,
  fields: 500,
  targetBytes: WIRE_LIMITS.targetBytes,
};

const HEAD_CEILING_BYTES = 262_144;
const FIELDS_CEILING = 1_000;

/** Content that a client may send ahead on one stream, and on all of a connection together, in bytes. */
const STREAM_WINDOW_BYTES = 262_144;
export const CONNECTION_WINDOW_BYTES = 1_048_576;

/** Pings, settings and priorities of one connection in one window of time. */
export const CONTROL = { frames: 500, windowMs: 10_000 } as const;

/** Streams that a client resets before they were answered, in the same window (CVE-2023-44487). */
export const RESETS = 300;

export const SESSION: ServerSessionOptions = {
  settings: {
    maxConcurrentStreams: 128,
    initialWindowSize: STREAM_WINDOW_BYTES,
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
  // An upstream may have said a field twice that is to be said once; HTTP/1.1 passes it on too.
  strictSingleValueFields: false,
};
