/** Phases of a policy in the order in which they run. */
export const PHASES = ['on_tcp_connect', 'on_http_request', 'on_http_response'] as const;

export type Phase = (typeof PHASES)[number];

export function isPhase(text: string): text is Phase {
  return (PHASES as readonly string[]).includes(text);
}

/** Whether what is known since `since` is known in `phase`. */
export function isKnownIn(since: Phase, phase: Phase): boolean {
  return PHASES.indexOf(since) <= PHASES.indexOf(phase);
}
