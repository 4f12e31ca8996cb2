import {
  NS,
  attributeOf,
  childOf,
  childrenOf,
  elementsOf,
  everyElement,
  hasOnlyElements,
  isNamed,
  textOf,
} from './elements.ts';
import { readInstant } from './instants.ts';
import { type Message, type SignedElement, findSignatures, isId } from './message.ts';
import { type SamlRefusal, refuse } from './reasons.ts';
import type { XmlElement } from './xml_tree.ts';

const SUCCESS = 'urn:oasis:names:tc:SAML:2.0:status:Success';
const ENTITY_FORMAT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:entity';

/** A response with the structure of the profile. Its signatures are not verified yet. */
export interface ResponseShape {
  readonly response: XmlElement;
  readonly assertion: XmlElement;
  readonly signed: readonly SignedElement[];
}

/**
 * Checks the structure of a response (Core §3.3.3): one assertion as a child of the only response, signatures
 * only where they belong, and no element that could contain a wrapped copy. A failed status is reported even
 * if it is not signed, because it admits no user.
 */
export function readResponseShape(message: Message): ResponseShape | SamlRefusal {
  const { root } = message;
  if (!isNamed(root, NS.protocol, 'Response')) return refuse('not_a_response', { root: root.local });
  if (attributeOf(root, 'Version') !== '2.0')
    return refuse('version', { version: attributeOf(root, 'Version') });
  if (!isId(attributeOf(root, 'ID'))) return refuse('id_malformed', { element: 'Response' });
  const assertion = theAssertion(root);
  if ('refused' in assertion) return statusProblem(root) ?? assertion;
  const signed = findSignatures(message, [root, assertion]);
  if ('refused' in signed) return signed;
  const misplaced = orderProblem(root, RESPONSE_ORDER) ?? orderProblem(assertion, ASSERTION_ORDER);
  return misplaced ?? { response: root, assertion, signed };
}

/** Counted by local name in the whole document, because a copy in another namespace is also suspicious. */
function theAssertion(root: XmlElement): XmlElement | SamlRefusal {
  const counted = { Assertion: 0, Response: 0, EncryptedAssertion: 0 };
  for (const { local } of everyElement(root)) {
    if (local in counted) counted[local as keyof typeof counted]++;
  }
  if (counted.EncryptedAssertion > 0) return refuse('assertion_encrypted');
  if (counted.Assertion > 1) return refuse('assertions_several', { assertions: counted.Assertion });
  if (counted.Response > 1) return refuse('unexpected_element', { element: 'Response' });
  if (counted.Assertion === 0) return refuse('assertion_missing');
  return childOf(root, NS.assertion, 'Assertion') ?? refuse('assertion_misplaced');
}

type Order = readonly (readonly [namespace: string, local: string, most: 1 | 'many'])[];

// table: children in schema order (Core §3.2.2); extensions are not read
const RESPONSE_ORDER: Order = [
  [NS.assertion, 'Issuer', 1],
  [NS.signature, 'Signature', 1],
  [NS.protocol, 'Extensions', 1],
  [NS.protocol, 'Status', 1],
  [NS.assertion, 'Assertion', 1],
];

// table: children in schema order (Core §2.3.3); Advice is not supported and refused
const ASSERTION_ORDER: Order = [
  [NS.assertion, 'Issuer', 1],
  [NS.signature, 'Signature', 1],
  [NS.assertion, 'Subject', 1],
  [NS.assertion, 'Conditions', 1],
  [NS.assertion, 'AuthnStatement', 'many'],
  [NS.assertion, 'AttributeStatement', 'many'],
];

/**
 * Refuses children that are unknown or out of order. Statements may come in any order (a choice in the
 * schema).
 */
function orderProblem(element: XmlElement, order: Order): SamlRefusal | null {
  if (!hasOnlyElements(element)) return refuse('unexpected_element', { element: '#text', in: element.local });
  let at = 0;
  let isTaken = false;
  for (const child of elementsOf(element)) {
    const next = order.findIndex(([namespace, local]) => isNamed(child, namespace, local));
    const isMany = next >= 0 && order[next]![2] === 'many';
    const isBack = isMany ? order[at]![2] !== 'many' && next < at : next < at;
    const isAgain = next === at && isTaken && !isMany;
    if (next < 0 || isBack || isAgain)
      return refuse('unexpected_element', { element: child.local, in: element.local });
    at = next;
    isTaken = true;
  }
  return null;
}

/** The refusal by the identity provider if the status is not success (Core §3.2.2.2). */
export function statusProblem(response: XmlElement): SamlRefusal | null {
  const [status, ...more] = childrenOf(response, NS.protocol, 'Status');
  const code = status === undefined ? undefined : childOf(status, NS.protocol, 'StatusCode');
  const value = code === undefined ? undefined : attributeOf(code, 'Value');
  if (more.length > 0 || status === undefined || code === undefined || value === undefined) {
    return refuse('status_malformed');
  }
  if (value === SUCCESS) return null;
  const inner = childOf(code, NS.protocol, 'StatusCode');
  const message = childOf(status, NS.protocol, 'StatusMessage');
  return refuse('status', {
    status: lastOf(value),
    second: inner === undefined ? undefined : lastOf(attributeOf(inner, 'Value') ?? ''),
    message: message === undefined ? undefined : (textOf(message) ?? undefined),
  });
}

function lastOf(urn: string): string {
  return urn.slice(urn.lastIndexOf(':') + 1);
}

/** Checks the issuer of a message (Core §2.2.5). */
export function issuerProblem(element: XmlElement, entityId: string, required: boolean): SamlRefusal | null {
  const [issuer, ...more] = childrenOf(element, NS.assertion, 'Issuer');
  if (issuer === undefined)
    return required ? refuse('issuer', { of: element.local, expected: entityId }) : null;
  const format = attributeOf(issuer, 'Format');
  const text = textOf(issuer);
  const isExpected =
    more.length === 0 && text === entityId && (format === undefined || format === ENTITY_FORMAT);
  return isExpected
    ? null
    : refuse('issuer', { of: element.local, issuer: text ?? undefined, expected: entityId });
}

/** Expected header fields of a message of the identity provider. */
export interface HeadExpected {
  readonly entityId: string;
  readonly destination: string;
  readonly nowMs: number;
  readonly toleranceMs: number;
}

/** Checks version, issuer, destination and time of issue of a protocol message (Core §3.2.1, §3.2.2). */
export function headProblem(root: XmlElement, isSigned: boolean, expected: HeadExpected): SamlRefusal | null {
  if (attributeOf(root, 'Version') !== '2.0')
    return refuse('version', { version: attributeOf(root, 'Version') });
  // A signed message must have an issuer and a destination (Profiles §4.1.4.2, Bindings §3.5.5.2).
  const wrong = issuerProblem(root, expected.entityId, isSigned);
  if (wrong !== null) return wrong;
  const destination = attributeOf(root, 'Destination');
  if (destination === undefined ? isSigned : destination !== expected.destination) {
    return refuse('destination', { destination: destination ?? '', expected: expected.destination });
  }
  const issued = readInstant(attributeOf(root, 'IssueInstant') ?? '');
  if (issued === null || issued > expected.nowMs + expected.toleranceMs) {
    return refuse('issue_instant', { of: root.local, at: attributeOf(root, 'IssueInstant') });
  }
  return null;
}
