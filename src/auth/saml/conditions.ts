import { NS, attributeOf, childrenOf, elementsOf, textOf } from './elements.ts';
import { readInstant } from './instants.ts';
import { type SamlRefusal, type SamlRefusalCode, isRefusal, refuse } from './reasons.ts';
import type { XmlElement } from './xml_tree.ts';

interface Clock {
  readonly nowMs: number;
  readonly toleranceMs: number;
}

/**
 * Allowed conditions besides the audience; they do not concern a service provider that never passes
 * assertions on.
 */
const HARMLESS: ReadonlySet<string> = new Set(['OneTimeUse', 'ProxyRestriction']);

/** Checks the conditions of an assertion (Core §2.5.1): validity period and audiences. */
export function conditionsProblem(
  assertion: XmlElement,
  expected: Clock & { readonly audience: string },
): Window | SamlRefusal {
  const [conditions, ...more] = childrenOf(assertion, NS.assertion, 'Conditions');
  if (conditions === undefined || more.length > 0) return refuse('conditions_missing');
  const window = windowProblem(
    attributeOf(conditions, 'NotBefore'),
    attributeOf(conditions, 'NotOnOrAfter'),
    expected,
    { early: 'not_yet_valid', over: 'expired' },
  );
  if (isRefusal(window)) return window;
  const restrictions = childrenOf(conditions, NS.assertion, 'AudienceRestriction');
  // Core §2.5.1: an unknown condition makes the assertion invalid.
  const unknown = elementsOf(conditions).find(
    (each) => !restrictions.includes(each) && !(each.namespace === NS.assertion && HARMLESS.has(each.local)),
  );
  if (unknown !== undefined) return refuse('condition_unknown', { condition: unknown.local });
  if (restrictions.length === 0) return refuse('audience_missing');
  for (const restriction of restrictions) {
    const audiences = childrenOf(restriction, NS.assertion, 'Audience').map(textOf);
    if (!audiences.includes(expected.audience)) {
      return refuse('audience', { audience: audiences.join(' '), expected: expected.audience });
    }
  }
  return window;
}

export interface Window {
  /** The end, if specified; without tolerance. */
  readonly untilMs: number | null;
}

/** Checks a validity period; its start is inclusive and its end exclusive (Core §2.5.1.2). */
export function windowProblem(
  notBefore: string | undefined,
  notOnOrAfter: string | undefined,
  { nowMs, toleranceMs }: Clock,
  codes: { readonly early: SamlRefusalCode; readonly over: SamlRefusalCode },
): Window | SamlRefusal {
  const fromMs = notBefore === undefined ? null : readInstant(notBefore);
  const untilMs = notOnOrAfter === undefined ? null : readInstant(notOnOrAfter);
  if (notBefore !== undefined && fromMs === null) return refuse('time_malformed', { at: notBefore });
  if (notOnOrAfter !== undefined && untilMs === null) return refuse('time_malformed', { at: notOnOrAfter });
  if (fromMs !== null && nowMs + toleranceMs < fromMs) return refuse(codes.early, { at: notBefore });
  if (untilMs !== null && nowMs - toleranceMs >= untilMs) return refuse(codes.over, { at: notOnOrAfter });
  return { untilMs };
}
