/** Phases of a policy in execution order, as spelt in documents. */
export const PHASES = [
  'on_tcp_connect',
  'on_http_request',
  'on_http_response',
  'on_event_stream_message',
] as const;

export type Phase = (typeof PHASES)[number];

/** Former names of phases. */
export const LEGACY_PHASES: Readonly<Record<string, Phase>> = {
  inbound: 'on_http_request',
  outbound: 'on_http_response',
};
