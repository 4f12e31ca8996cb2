import { fromBase64 } from '../crypto/base64.ts';
import { NS, attributeOf, childOf, isNamed, textOf } from '../auth/saml/elements.ts';
import { inflateRaw } from '../auth/saml/inflate.ts';
import { isXmlProblem, readXml } from '../auth/saml/xml.ts';
import type { XmlElement } from '../auth/saml/xml_tree.ts';
import { type SamlAsked, formatWanted } from './saml_response.ts';

const LIMIT_BYTES = 65_536;
const UTF8 = new TextDecoder();

/** A message from a service provider. Its sender is not verified: anyone may ask the development provider. */
export function readServiceMessage(encoded: string): XmlElement | string {
  const bytes = fromBase64(encoded);
  if (bytes === null) return 'the message is not base64';
  // Plain with POST, compressed with redirect (Bindings §3.4.4.1).
  const xml = bytes[0] === '<'.charCodeAt(0) ? bytes : inflateRaw(bytes, LIMIT_BYTES);
  if (xml === null) return 'the message cannot be inflated';
  const root = readXml(UTF8.decode(xml));
  return isXmlProblem(root) ? `the message ${root.message}` : root;
}

/** Reads a login request; returns a string with the error if it is invalid. */
export function readLoginRequest(encoded: string, relayState: string | null): SamlAsked | string {
  const root = readServiceMessage(encoded);
  if (typeof root === 'string') return root;
  if (!isNamed(root, NS.protocol, 'AuthnRequest')) return 'the message is not an AuthnRequest';
  const issuer = childOf(root, NS.assertion, 'Issuer');
  const audience = issuer === undefined ? null : textOf(issuer);
  const acsUrl = attributeOf(root, 'AssertionConsumerServiceURL');
  const requestId = attributeOf(root, 'ID');
  if (audience === null || audience === '') return 'the request has no issuer';
  if (acsUrl === undefined || !/^https?:\/\//.test(acsUrl) || !URL.canParse(acsUrl)) {
    return 'the request has no AssertionConsumerServiceURL';
  }
  if (requestId === undefined) return 'the request has no ID';
  const policy = childOf(root, NS.protocol, 'NameIDPolicy');
  const nameIdFormat = formatWanted(policy === undefined ? undefined : attributeOf(policy, 'Format'));
  return { audience, acsUrl, requestId, nameIdFormat, relayState };
}
