import { NS, attributeOf, childOf, childrenOf, elementsOf } from './elements.ts';
import { type Attributes, readAttributes } from './attributes.ts';
import { conditionsProblem, windowProblem } from './conditions.ts';
import { readInstant } from './instants.ts';
import { isId } from './message.ts';
import { type NameId, readNameId } from './name_id.ts';
import { type SamlRefusal, isRefusal, refuse } from './reasons.ts';
import { issuerProblem } from './response.ts';
import type { XmlElement } from './xml_tree.ts';

const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';

/** Expected contents of an assertion. */
export interface AssertionExpected {
  /** Entity id of the identity provider. */
  readonly issuer: string;
  /** Our entity id. */
  readonly audience: string;
  /** URL of our assertion consumer service. */
  readonly recipient: string;
  /** Id of the pending request; null for an IdP-initiated login. */
  readonly inResponseTo: string | null;
  readonly nameIdFormat: string;
  /** When a forced login was requested: older authentications are refused. Null if any is accepted. */
  readonly freshSinceMs: number | null;
  readonly nowMs: number;
  readonly toleranceMs: number;
}

/** The user according to the signed bytes. */
export interface Asserted {
  readonly assertionId: string;
  readonly issuedMs: number;
  /** When the assertion expires; its id is remembered until then. */
  readonly untilMs: number;
  readonly nameId: NameId;
  readonly attributes: Attributes;
  readonly sessionIndex: string | null;
  /** When the session ends at the identity provider, if specified. */
  readonly sessionUntilMs: number | null;
}

/** Reads an assertion from signed bytes (Core §2.3.3, Profiles §4.1.4.2 and §4.1.4.3). */
export function readAssertion(assertion: XmlElement, expected: AssertionExpected): Asserted | SamlRefusal {
  const version = attributeOf(assertion, 'Version');
  if (version !== '2.0') return refuse('version', { version });
  const assertionId = attributeOf(assertion, 'ID');
  if (!isId(assertionId)) return refuse('id_malformed', { element: 'Assertion' });
  const issued = readInstant(attributeOf(assertion, 'IssueInstant') ?? '');
  if (issued === null || issued > expected.nowMs + expected.toleranceMs) {
    return refuse('issue_instant', { of: 'Assertion', at: attributeOf(assertion, 'IssueInstant') });
  }
  const wrong = issuerProblem(assertion, expected.issuer, true);
  if (wrong !== null) return wrong;
  const subject = readSubject(assertion, expected);
  if (isRefusal(subject)) return subject;
  const conditions = conditionsProblem(assertion, expected);
  if (isRefusal(conditions)) return conditions;
  const login = readLogin(assertion, expected);
  if (isRefusal(login)) return login;
  return {
    assertionId,
    issuedMs: issued,
    untilMs: Math.max(subject.untilMs, conditions.untilMs ?? 0) + expected.toleranceMs,
    nameId: subject.nameId,
    attributes: readAttributes(assertion),
    ...login,
  };
}

interface Subject {
  readonly nameId: NameId;
  readonly untilMs: number;
}

function readSubject(assertion: XmlElement, expected: AssertionExpected): Subject | SamlRefusal {
  const subject = childOf(assertion, NS.assertion, 'Subject');
  if (subject === undefined) return refuse('subject_missing');
  const nameId = readNameId(subject, expected);
  if (isRefusal(nameId)) return nameId;
  const bearers = childrenOf(subject, NS.assertion, 'SubjectConfirmation').filter(
    (each) => attributeOf(each, 'Method') === BEARER,
  );
  if (bearers.length === 0) return refuse('confirmation_method');
  // One valid confirmation is enough (Core §2.4.1); if all fail, the first reason is reported.
  let first: SamlRefusal | null = null;
  for (const bearer of bearers) {
    const problem = confirmationProblem(bearer, expected);
    if (problem === null) return { nameId, untilMs: lastEndOf(bearers) };
    first ??= problem;
  }
  return first!;
}

/** When the last confirmation ends: another one than the first valid one may admit a replay later. */
function lastEndOf(bearers: readonly XmlElement[]): number {
  const data = bearers.flatMap((bearer) => childrenOf(bearer, NS.assertion, 'SubjectConfirmationData'));
  return Math.max(...data.map((each) => readInstant(attributeOf(each, 'NotOnOrAfter') ?? '') ?? 0));
}

function confirmationProblem(bearer: XmlElement, expected: AssertionExpected): SamlRefusal | null {
  const [data, ...more] = childrenOf(bearer, NS.assertion, 'SubjectConfirmationData');
  if (data === undefined || more.length > 0) return refuse('confirmation_data');
  const recipient = attributeOf(data, 'Recipient');
  const notOnOrAfter = attributeOf(data, 'NotOnOrAfter');
  // Profiles §4.1.4.2 requires both.
  if (recipient === undefined || notOnOrAfter === undefined) return refuse('confirmation_data');
  if (recipient !== expected.recipient) {
    return refuse('recipient', { recipient, expected: expected.recipient });
  }
  const problem = windowProblem(attributeOf(data, 'NotBefore'), notOnOrAfter, expected, {
    early: 'confirmation_early',
    over: 'confirmation_expired',
  });
  if (isRefusal(problem)) return problem;
  const answers = attributeOf(data, 'InResponseTo') ?? null;
  if (answers !== expected.inResponseTo) {
    return refuse('in_response_to', { of: 'SubjectConfirmationData', answers: answers ?? '' });
  }
  return null;
}

function readLogin(
  assertion: XmlElement,
  expected: AssertionExpected,
): Pick<Asserted, 'sessionIndex' | 'sessionUntilMs'> | SamlRefusal {
  const statements = elementsOf(assertion).filter(({ local }) => local === 'AuthnStatement');
  const [statement] = statements;
  if (statement === undefined) return refuse('authn_missing');
  let sessionUntilMs: number | null = null;
  for (const each of statements) {
    const atMs = readInstant(attributeOf(each, 'AuthnInstant') ?? '');
    if (atMs === null || atMs > expected.nowMs + expected.toleranceMs) return refuse('authn_instant');
    if (expected.freshSinceMs !== null && atMs < expected.freshSinceMs - expected.toleranceMs) {
      return refuse('authn_stale', { at: attributeOf(each, 'AuthnInstant') });
    }
    const end = attributeOf(each, 'SessionNotOnOrAfter');
    if (end === undefined) continue;
    const endMs = readInstant(end);
    if (endMs === null) return refuse('time_malformed', { at: end });
    // Without tolerance: the session would be over at the next request, which would begin another login.
    if (endMs <= expected.nowMs) return refuse('session_over', { at: end });
    sessionUntilMs = Math.min(sessionUntilMs ?? endMs, endMs);
  }
  return { sessionIndex: attributeOf(statement, 'SessionIndex') ?? null, sessionUntilMs };
}
