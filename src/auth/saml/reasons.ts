/** Why a message of an identity provider is refused: code to the end of a sentence about it. */
// table: reasons
export const SAML_REFUSALS = {
  metadata_ended: 'the metadata of the identity provider has expired, so its keys are no longer valid',
  message_missing: 'the form contains no message',
  message_repeated: 'the form has more than one message',
  base64_malformed: 'it is not canonical base64',
  deflate_malformed: 'it is not valid raw DEFLATE data',
  encoding_malformed: 'it is not UTF-8',
  too_large: 'it exceeds the size limit',
  doctype: 'it has a document type declaration',
  entity: 'it contains an entity reference',
  comment: 'it contains a comment, which could split a text',
  cdata: 'it contains a CDATA section',
  processing_instruction: 'it contains a processing instruction',
  too_complex: 'it is nested too deeply or has too many elements',
  malformed: 'it is not well-formed XML',
  not_a_response: 'its root is not a SAML 2.0 Response',
  not_a_logout_message: 'its root is not a SAML 2.0 logout message',
  version: 'its version is not 2.0',
  id_malformed: 'an id is missing or malformed',
  id_repeated: 'two elements have the same id',
  unexpected_element: 'an element is not allowed here by the schema',
  unexpected_attribute: 'an element has an attribute that could be confused with another',
  assertion_missing: 'it contains no assertion',
  assertions_several: 'it contains more than one assertion',
  assertion_encrypted:
    'the assertion is encrypted, which is not supported: configure the provider to sign it only',
  assertion_misplaced: 'the assertion is not a child of the response',
  unsigned: 'it is not signed',
  signatures_several: 'an element has more than one signature',
  signature_misplaced: 'a signature is not in the element that it signs',
  signature_malformed: 'the signature does not have the required structure',
  signature_object: 'the signature contains an object',
  signature_algorithm: 'the signature algorithm is not accepted',
  digest_algorithm: 'the digest algorithm is not accepted',
  canonicalization: 'the canonicalization is not exclusive canonicalization',
  transform: 'a transform is not accepted or missing',
  references_several: 'the signature must have exactly one reference',
  reference_elsewhere: 'the signature refers to another element than its parent',
  key_info: 'the key information is not in a supported form',
  signature_invalid: 'the signature does not verify with any certificate of the identity provider',
  verifier_unavailable: 'the signature cannot be verified at the moment',
  signed_part_differs: 'the signed element is not the expected one',
  status: 'the identity provider reports that the login failed',
  status_malformed: 'it has no status',
  issuer: 'it has another issuer',
  destination: 'its destination is another address',
  issue_instant: 'its time of issue is missing, malformed or in the future',
  in_response_to: 'it answers another request than the pending one',
  subject_missing: 'the assertion has no subject',
  name_id_missing: 'the subject has no name identifier, or more than one',
  name_id_encrypted: 'the name identifier is encrypted, which is not supported',
  name_id_malformed: 'the name identifier is empty or has parts',
  name_id_format: 'the name identifier does not have the expected format',
  name_id_qualifier: 'the name identifier is qualified for another party',
  confirmation_method: 'the subject is not confirmed by the bearer method',
  confirmation_data: 'the confirmation has no recipient or no expiry',
  recipient: 'the recipient of the confirmation is another address',
  confirmation_expired: 'the confirmation has expired',
  confirmation_early: 'the confirmation is not valid yet',
  conditions_missing: 'the assertion must have exactly one set of conditions',
  condition_unknown: 'a condition is unknown',
  not_yet_valid: 'the assertion is not valid yet',
  expired: 'the assertion has expired',
  time_malformed: 'a time is malformed',
  audience_missing: 'the assertion has no audience',
  audience: 'the assertion is for another audience',
  authn_missing: 'the assertion has no authentication statement',
  authn_instant: 'the time of the login is missing, malformed or in the future',
  authn_stale: 'the login is older than the request, which required a new one',
  session_over: 'the session at the identity provider has ended',
  replayed: 'the assertion has been used before',
  replay_full: 'the limit of remembered assertions is reached',
  replay_unknown: 'it cannot be checked whether it was used before',
  group: 'the user is in none of the authorized groups',
} as const;

export type SamlRefusalCode = keyof typeof SAML_REFUSALS;

/** Why a message is refused, with facts for the trace. */
export interface SamlRefusal {
  readonly refused: SamlRefusalCode;
  readonly detail: Readonly<Record<string, string | number>>;
}

const DETAIL_CHARS = 200;

/** Creates a refusal; long texts from outside are truncated. */
export function refuse(
  refused: SamlRefusalCode,
  detail: Readonly<Record<string, string | number | undefined>> = {},
): SamlRefusal {
  const kept = Object.entries(detail).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, typeof value === 'string' ? value.slice(0, DETAIL_CHARS) : value]],
  );
  return { refused, detail: Object.fromEntries(kept) as SamlRefusal['detail'] };
}

/** Whether a step was refused. */
export function isRefusal(outcome: object): outcome is SamlRefusal {
  return 'refused' in outcome;
}
