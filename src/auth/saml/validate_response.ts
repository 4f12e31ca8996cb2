import { firstAttribute, groupsIn } from './attributes.ts';
import { type Asserted, readAssertion } from './assertion.ts';
import { attributeOf } from './elements.ts';
import { decodeMessage, readMessage } from './message.ts';
import { EMAIL_ADDRESS } from './name_id.ts';
import { type SamlRefusal, isRefusal, refuse } from './reasons.ts';
import { type ResponseShape, headProblem, readResponseShape, statusProblem } from './response.ts';
import { type SignatureAnswer, type SignatureQuestion, readSignedResponse } from './verified.ts';

/** The parts of an identity provider's metadata that matter for its messages. */
export interface TrustedProvider {
  readonly entityId: string;
  /** Its signing certificates. */
  readonly certificates: readonly { readonly pem: string }[];
}

/** Expected contents of a response. */
export interface ResponseExpected {
  readonly provider: TrustedProvider;
  /** Our entity id. */
  readonly entityId: string;
  readonly acsUrl: string;
  readonly nameIdFormat: string;
  readonly authorizedGroups: readonly string[];
  /** The pending request; null for an IdP-initiated login. */
  readonly request: { readonly id: string; readonly freshSinceMs: number | null } | null;
  readonly nowMs: number;
  readonly toleranceMs: number;
}

/** The authenticated user. */
export interface SamlIdentity {
  readonly nameId: string;
  readonly nameIdFormat: string;
  readonly email: string;
  readonly name: string;
  readonly groups: readonly string[];
  readonly sessionIndex: string | null;
  readonly sessionUntilMs: number | null;
  readonly assertionId: string;
  readonly issuedMs: number;
  /** How long the assertion's id must be remembered. */
  readonly assertionUntilMs: number;
}

/** First half: checks that do not need a verified signature. `encoded` is the form field. */
export function openResponse(encoded: string): (ResponseShape & { readonly xml: string }) | SamlRefusal {
  const decoded = decodeMessage(encoded);
  if (isRefusal(decoded)) return decoded;
  const message = readMessage(decoded.xml);
  if (isRefusal(message)) return message;
  const shape = readResponseShape(message);
  return isRefusal(shape) ? shape : { ...shape, xml: decoded.xml };
}

/**
 * The request id that a response claims to answer, unverified; it only selects the pending login. Null if it
 * is missing or unreadable.
 */
export function inResponseToOf(encoded: string): string | null {
  const decoded = decodeMessage(encoded);
  const message = isRefusal(decoded) ? decoded : readMessage(decoded.xml);
  return isRefusal(message) ? null : (attributeOf(message.root, 'InResponseTo') ?? null);
}

/** The question for the verifying library. */
export function signatureQuestion(
  shape: ResponseShape & { readonly xml: string },
  provider: TrustedProvider,
): SignatureQuestion {
  return {
    xml: shape.xml,
    ids: shape.signed.map(({ id }) => id),
    certificates: provider.certificates.map(({ pem }) => pem),
  };
}

/** Second half: reads the user from the signed bytes only. */
export function validateResponse(
  shape: ResponseShape,
  answer: SignatureAnswer,
  expected: ResponseExpected,
): SamlIdentity | SamlRefusal {
  const believed = readSignedResponse(shape, answer);
  if (isRefusal(believed)) return believed;
  const { provider, acsUrl, nowMs, toleranceMs } = expected;
  const { response, isResponseSigned } = believed;
  const head = { entityId: provider.entityId, destination: acsUrl, nowMs, toleranceMs };
  const wrong = headProblem(response, isResponseSigned, head) ?? statusProblem(response);
  if (wrong !== null) return wrong;
  const waiting = expected.request?.id ?? null;
  const answers = attributeOf(response, 'InResponseTo') ?? null;
  if (answers !== waiting) return refuse('in_response_to', { of: 'Response', answers: answers ?? '' });
  const asserted = readAssertion(believed.assertion, {
    issuer: provider.entityId,
    audience: expected.entityId,
    recipient: acsUrl,
    inResponseTo: waiting,
    nameIdFormat: expected.nameIdFormat,
    freshSinceMs: expected.request?.freshSinceMs ?? null,
    nowMs,
    toleranceMs,
  });
  return isRefusal(asserted) ? asserted : identityOf(asserted, expected.authorizedGroups);
}

function identityOf(asserted: Asserted, authorizedGroups: readonly string[]): SamlIdentity | SamlRefusal {
  const { nameId, attributes } = asserted;
  const groups = groupsIn(attributes);
  if (authorizedGroups.length > 0 && !groups.some((group) => authorizedGroups.includes(group))) {
    return refuse('group', { user: nameId.value, groups: groups.join(' ') });
  }
  const email = firstAttribute(attributes, 'email');
  return {
    nameId: nameId.value,
    nameIdFormat: nameId.format,
    email: email === '' && nameId.format === EMAIL_ADDRESS ? nameId.value : email,
    name: firstAttribute(attributes, 'name'),
    groups,
    sessionIndex: asserted.sessionIndex,
    sessionUntilMs: asserted.sessionUntilMs,
    assertionId: asserted.assertionId,
    issuedMs: asserted.issuedMs,
    assertionUntilMs: asserted.untilMs,
  };
}
