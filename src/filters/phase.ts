/** Phases of a policy in execution order, as spelt in documents. */
export const PHASES = [
  'on_tcp_connect',
  'on_http_request',
  'on_http_response',
  'on_event_stream_message',
] as const;

export type Phase = (typeof PHASES)[number];

/** Phases whose expressions have variables of their own. */
export type ScopePhase = Exclude<Phase, 'on_event_stream_message'>;

/** The phase whose variables the expressions of a phase have: messages of an event stream belong to a response. */
const SCOPES: Readonly<Record<Phase, ScopePhase>> = {
  on_tcp_connect: 'on_tcp_connect',
  on_http_request: 'on_http_request',
  on_http_response: 'on_http_response',
  on_event_stream_message: 'on_http_response',
};

export const SCOPE_PHASES: readonly ScopePhase[] = Array.from(new Set(Object.values(SCOPES)));

export function scopePhase(phase: Phase): ScopePhase {
  return SCOPES[phase];
}

export function isScopePhase(text: string): text is ScopePhase {
  return (SCOPE_PHASES as readonly string[]).includes(text);
}

/** Whether something that is known from phase `since` on is known in `phase`. */
export function isKnownIn(since: ScopePhase, phase: ScopePhase): boolean {
  return SCOPE_PHASES.indexOf(since) <= SCOPE_PHASES.indexOf(phase);
}

/** Former names of phases. */
export const LEGACY_PHASES: Readonly<Record<string, Phase>> = {
  inbound: 'on_http_request',
  outbound: 'on_http_response',
};

/** The kinds of edges. */
export type EdgeKind = 'https' | 'tls' | 'tcp';
