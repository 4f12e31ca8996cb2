/** Why a message of an identity provider is not believed: code to the end of a sentence that begins with it. */
// table: reasons
export const SAML_REFUSALS = {
  metadata_ended: 'the metadata of the identity provider has ended, so its keys count no more',
  message_missing: 'there is no message in the form',
  message_repeated: 'the form has more than one message',
  base64_malformed: 'it is not base64 in its one canonical spelling',
  deflate_malformed: 'it is not compressed as the redirect binding wants it',
  encoding_malformed: 'it is not UTF-8',
  too_large: 'it is larger than what is read',
  doctype: 'it has a document type',
  entity: 'it refers to an entity',
  comment: 'it has a comment, which can split a text in two',
  cdata: 'it has a CDATA section',
  processing_instruction: 'it has a processing instruction',
  too_complex: 'it is nested too deep or has too many parts',
  malformed: 'it is not well-formed XML',
  not_a_response: 'its root is not a Response of SAML 2.0',
  not_a_logout_message: 'its root is not a logout message of SAML 2.0',
  version: 'its version is not 2.0',
  id_malformed: 'an id is missing or malformed',
  id_repeated: 'two elements have the same id',
  unexpected_element: 'an element stands where the schema has none',
  unexpected_attribute: 'an element has an attribute that could be taken for another',
  assertion_missing: 'there is no assertion in it',
  assertions_several: 'there is more than one assertion in it',
  assertion_encrypted: 'the assertion is encrypted, which is not supported: have the provider only sign it',
  assertion_misplaced: 'the assertion is not a child of the response',
  unsigned: 'nothing in it is signed',
  signatures_several: 'an element has more than one signature',
  signature_misplaced: 'a signature does not stand in what it signs',
  signature_malformed: 'the signature is not of the one form that is read',
  signature_object: 'the signature carries an object of its own',
  signature_algorithm: 'the signature algorithm is not one that is believed',
  digest_algorithm: 'the digest algorithm is not one that is believed',
  canonicalization: 'the canonicalization is not the exclusive one',
  transform: 'a transform is not one that is believed, or one is missing',
  references_several: 'the signature has not exactly one reference',
  reference_elsewhere: 'the signature refers to something else than the element that it stands in',
  key_info: 'the key information is of a form that is not read',
  signature_invalid: 'no certificate of the identity provider has made the signature',
  verifier_unavailable: 'the signature cannot be verified now',
  signed_part_differs: 'what is signed is not what was sent',
  status: 'the identity provider says that the login failed',
  status_malformed: 'there is no status',
  issuer: 'it is issued by another party',
  destination: 'it is meant for another address',
  issue_instant: 'its time of issue is missing, malformed or in the future',
  in_response_to: 'it answers another request than the one that is waiting',
  subject_missing: 'the assertion has no subject',
  name_id_missing: 'the subject has no name identifier, or more than one',
  name_id_encrypted: 'the name identifier is encrypted, which is not supported',
  name_id_malformed: 'the name identifier is empty or has parts',
  name_id_format: 'the name identifier is of another format than the one expected',
  name_id_qualifier: 'the name identifier is qualified for another party',
  confirmation_method: 'the subject is not confirmed by the bearer method',
  confirmation_data: 'the confirmation says neither for whom nor until when',
  recipient: 'the confirmation is meant for another address',
  confirmation_expired: 'the time of the confirmation is over',
  confirmation_early: 'the time of the confirmation has not come',
  conditions_missing: 'the assertion has not exactly one set of conditions',
  condition_unknown: 'a condition is not known',
  not_yet_valid: 'the assertion is not valid yet',
  expired: 'the assertion is not valid any more',
  time_malformed: 'a time is malformed',
  audience_missing: 'the assertion does not say for whom it is',
  audience: 'the assertion is for another audience',
  authn_missing: 'the assertion does not say that anybody logged in',
  authn_instant: 'the time of the login is missing, malformed or in the future',
  authn_stale: 'the login is older than the request, which asked for a new one',
  session_over: 'the session at the identity provider is over',
  replayed: 'the assertion has been used before',
  replay_full: 'more assertions are remembered than there is room for',
  group: 'the user is in none of the authorized groups',
} as const;

export type SamlRefusalCode = keyof typeof SAML_REFUSALS;

/** Why a message is not believed, with facts for the trace. */
export interface SamlRefusal {
  readonly refused: SamlRefusalCode;
  readonly detail: Readonly<Record<string, string | number>>;
}

const DETAIL_CHARS = 200;

/** Makes a refusal; texts that came from outside are cut to a bearable length. */
export function refuse(
  refused: SamlRefusalCode,
  detail: Readonly<Record<string, string | number | undefined>> = {},
): SamlRefusal {
  const kept = Object.entries(detail).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, typeof value === 'string' ? value.slice(0, DETAIL_CHARS) : value]],
  );
  return { refused, detail: Object.fromEntries(kept) as SamlRefusal['detail'] };
}

/** Whether a step ended in a refusal. */
export function isRefusal(outcome: object): outcome is SamlRefusal {
  return 'refused' in outcome;
}
