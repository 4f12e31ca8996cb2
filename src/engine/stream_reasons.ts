/** Why a connection ended as it did, apart from module reasons. `explain` prints the sentence. */
export const STREAM_REASONS = {
  'connect.matched': { message: 'this edge has the address' },
  'connect.unknown_port': { message: 'no edge has this port' },
  'connect.unknown_name': { message: 'no edge has this server name' },
  'connect.no_name': { message: 'the client sent no server name, so no edge can be found' },
  'connect.handshake': { message: 'the TLS handshake failed' },
  'backend.none': { message: 'the edge has no backend' },
  'backend.no_weight': { message: 'no child of the weighted backend has a weight above zero' },
  'upstream.connected': { message: 'the backend accepted the connection' },
  'upstream.connect': { message: 'the backend could not be reached' },
  'upstream.not_dialled': { message: 'the backend is a fixed HTTP response and cannot be connected to' },
  'stream.ended': { message: 'both sides have ended' },
  'stream.client': { message: 'the client broke the connection' },
  'stream.upstream': { message: 'the backend broke the connection' },
  'stream.idle': { message: 'nothing was sent for too long' },
  'stream.drained': { message: 'the edge was stopped' },
  'stream.not_forwarded': { message: 'connections cannot be forwarded to internal endpoints' },
  'engine.bug': { message: 'the edge failed while deciding; the connection was closed' },
} as const satisfies Record<string, { message: string }>;

export type StreamReason = keyof typeof STREAM_REASONS;
