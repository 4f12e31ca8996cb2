/** Why a connection went the way it did, where no module says so. The sentence is what `explain` prints. */
export const STREAM_REASONS = {
  'connect.matched': { says: 'this edge answers for the address' },
  'connect.unknown_port': { says: 'no edge answers at this port' },
  'connect.unknown_name': { says: 'no edge has this server name' },
  'connect.no_name': { says: 'the client named no server, so no edge can be found' },
  'connect.handshake': { says: 'the TLS handshake failed' },
  'backend.none': { says: 'the edge has no backend' },
  'backend.no_weight': { says: 'no child of the weighted backend has a weight above zero' },
  'upstream.connected': { says: 'the backend took the connection' },
  'upstream.connect': { says: 'the backend could not be reached' },
  'upstream.not_dialled': { says: 'the backend answers in HTTP by itself, so it takes no connection' },
  'stream.ended': { says: 'both sides have ended' },
  'stream.client': { says: 'the client broke off' },
  'stream.upstream': { says: 'the backend broke off' },
  'stream.idle': { says: 'nothing was sent for too long' },
  'stream.drained': { says: 'the edge was stopped' },
  'stream.not_forwarded': { says: 'connections are not handed to internal endpoints' },
  'engine.bug': { says: 'the edge failed while deciding; the connection was closed' },
} as const satisfies Record<string, { says: string }>;

export type StreamReason = keyof typeof STREAM_REASONS;
