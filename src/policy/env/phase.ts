/** Phases of a policy in execution order. */
export const PHASES = ['on_tcp_connect', 'on_http_request', 'on_http_response'] as const;

export type Phase = (typeof PHASES)[number];

export function isPhase(text: string): text is Phase {
  return (PHASES as readonly string[]).includes(text);
}

/** Whether something that is known from phase `since` on is known in `phase`. */
export function isKnownIn(since: Phase, phase: Phase): boolean {
  return PHASES.indexOf(since) <= PHASES.indexOf(phase);
}
