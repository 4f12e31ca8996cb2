import {
  type Parts,
  type Signing,
  BEARER,
  PERSISTENT,
  at,
  cut,
  withSignedAssertion,
  withSignedResponse,
  responseXml,
} from './forge.ts';
import type { Attack } from './wrapping.ts';

const claim = (name: string, reason: string, change: Partial<Parts>, how: Signing = {}): Attack => ({
  name,
  reason,
  xml: withSignedAssertion(change, how),
});
const signedHead = (name: string, reason: string, change: Partial<Parts>): Attack => ({
  name,
  reason,
  xml: withSignedResponse(change),
});
const STATUS = 'urn:oasis:names:tc:SAML:2.0:status:';
const code = (value: string, inside = ''): string =>
  `<samlp:StatusCode Value="${STATUS}${value}">${inside}</samlp:StatusCode>`;
const audience = (name: string): string =>
  `<saml:AudienceRestriction><saml:Audience>${name}</saml:Audience></saml:AudienceRestriction>`;

/** Documents with a valid signature and a claim that must be refused. */
// table: claims
export const CLAIMS: readonly Attack[] = [
  claim('another issuer of the assertion', 'issuer', { issuer: 'https://evil.example.test' }),
  claim('another issuer of the response', 'issuer', { responseIssuer: 'https://evil.example.test' }),
  claim('an issuer with a blank', 'issuer', { issuer: 'https://idp.example.test/metadata ' }),
  signedHead('a signed response without issuer', 'issuer', { responseIssuer: null }),
  claim('another audience', 'audience', { audience: audience('https://other.test') }),
  claim('an audience that begins like ours', 'audience', {
    audience: audience('https://idp.service.test/saml/route2'),
  }),
  claim('a second restriction to another audience', 'audience', {
    extraConditions: audience('https://other.test'),
  }),
  claim('no audience', 'audience_missing', { audience: '' }),
  claim('no conditions', 'conditions_missing', { conditions: '' }),
  claim('an empty restriction', 'audience', { audience: '<saml:AudienceRestriction/>' }),
  claim('an unknown condition', 'condition_unknown', {
    extraConditions: '<saml:Condition xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="x"/>',
  }),
  claim('conditions over', 'expired', { notOnOrAfter: at(-61_000) }),
  claim('conditions to come', 'not_yet_valid', { notBefore: at(61_000) }),
  claim('a malformed end', 'time_malformed', { notOnOrAfter: 'soon' }),
  claim('an end in another zone', 'time_malformed', { notOnOrAfter: '2026-01-01T14:00:00+02:00' }),
  claim('an end on 30 February', 'time_malformed', { notOnOrAfter: '2026-02-30T00:00:00Z' }),
  claim('another recipient', 'recipient', { recipient: 'https://other.test/acs' }),
  claim('a recipient that begins like ours', 'recipient', {
    recipient: 'https://idp.service.test/saml/route/acs/..',
  }),
  claim('no recipient', 'confirmation_data', { recipient: null }),
  claim('a confirmation without end', 'confirmation_data', { confirmationUntil: null }),
  claim('a confirmation that is over', 'confirmation_expired', { confirmationUntil: at(-60_000) }),
  claim('a confirmation to come', 'confirmation_early', { confirmationNotBefore: at(60_001) }),
  claim('a confirmation of another request', 'in_response_to', { confirmationInResponseTo: '_request2' }),
  claim('a confirmation of no request', 'in_response_to', { confirmationInResponseTo: null }),
  claim('holder of key', 'confirmation_method', { method: 'urn:oasis:names:tc:SAML:2.0:cm:holder-of-key' }),
  claim('sender vouches', 'confirmation_method', { method: 'urn:oasis:names:tc:SAML:2.0:cm:sender-vouches' }),
  claim('no confirmation', 'confirmation_method', { confirmation: '' }),
  claim('a confirmation without data', 'confirmation_data', {
    confirmation: `<saml:SubjectConfirmation Method="${BEARER}"/>`,
  }),
  claim('another destination', 'destination', { destination: 'https://other.test/acs' }),
  signedHead('a signed response without destination', 'destination', { destination: null }),
  signedHead('a signed response to another destination', 'destination', {
    destination: 'https://other.test/acs',
  }),
  claim('a response to another request', 'in_response_to', { inResponseTo: '_request2' }),
  claim('a response to no request', 'in_response_to', { inResponseTo: null, confirmationInResponseTo: null }),
  claim('version 1.1', 'version', { version: '1.1' }),
  claim('an assertion of version 1.1', 'version', { assertionVersion: '1.1' }),
  claim('issued in the future', 'issue_instant', { issueInstant: at(61_000) }),
  claim('an assertion issued in the future', 'issue_instant', { assertionIssueInstant: at(61_000) }),
  claim('issued at no time', 'issue_instant', { issueInstant: '' }),
  claim('status: refused by the responder', 'status', { status: code('Responder') }),
  claim('status: login failed', 'status', { status: code('Requester', code('AuthnFailed')) }),
  claim('a good status inside of a bad one', 'status', { status: code('Responder', code('Success')) }),
  claim('no status code', 'status_malformed', { status: '' }),
  claim('no login', 'authn_missing', { authn: '' }),
  claim('a login in the future', 'authn_instant', {
    authn: `<saml:AuthnStatement AuthnInstant="${at(61_000)}"/>`,
  }),
  claim('a login at no time', 'authn_instant', { authn: '<saml:AuthnStatement/>' }),
  claim('a session that is over', 'session_over', {
    authn: `<saml:AuthnStatement AuthnInstant="${at(-9_000)}" SessionNotOnOrAfter="${at(-60_000)}"/>`,
  }),
  // Within the tolerance, too: the next request would find it over, and begin another login.
  claim('a session that ends now', 'session_over', {
    authn: `<saml:AuthnStatement AuthnInstant="${at(-9_000)}" SessionNotOnOrAfter="${at(0)}"/>`,
  }),
  claim('no subject', 'subject_missing', { subject: '' }),
  claim('no name', 'name_id_missing', {
    subject: `<saml:Subject>${cut(responseXml(), 'saml:SubjectConfirmation')}</saml:Subject>`,
  }),
  claim('two names', 'name_id_missing', {
    nameId: `ann</saml:NameID><saml:NameID Format="${PERSISTENT}">evil`,
  }),
  claim('an empty name', 'name_id_malformed', { nameId: ' ' }),
  claim('a name with parts', 'name_id_malformed', { nameId: 'ann<x>evil</x>' }),
  claim('a very long name', 'name_id_malformed', { nameId: 'a'.repeat(1_025) }),
  claim('a name of another format', 'name_id_format', {
    nameIdAttributes: 'Format="urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"',
  }),
  claim('a name of no format', 'name_id_format', { nameIdAttributes: '' }),
  claim('a name for another party', 'name_id_qualifier', {
    nameIdAttributes: `Format="${PERSISTENT}" SPNameQualifier="https://other.test"`,
  }),
  claim('a name by another party', 'name_id_qualifier', {
    nameIdAttributes: `Format="${PERSISTENT}" NameQualifier="https://other.test"`,
  }),
  claim('an encrypted name alone', 'name_id_encrypted', {
    subject: `<saml:Subject><saml:EncryptedID/>${cut(responseXml(), 'saml:SubjectConfirmation')}</saml:Subject>`,
  }),
  claim('an encrypted name beside the name', 'name_id_missing', {
    confirmation: `<saml:EncryptedID/>${cut(responseXml(), 'saml:SubjectConfirmation')}`,
  }),
  claim('advice', 'unexpected_element', {
    authn: '<saml:Advice/><saml:AuthnStatement AuthnInstant="2026-01-01T12:00:00Z"/>',
  }),
  claim('an authorization decision', 'unexpected_element', { attributes: '<saml:AuthzDecisionStatement/>' }),
  claim('two subjects', 'unexpected_element', {
    subject: `${cut(responseXml(), 'saml:Subject')}${cut(responseXml({ nameId: 'evil' }), 'saml:Subject')}`,
  }),
];
