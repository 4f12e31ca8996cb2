import { fromBase64 } from '../crypto/base64.ts';
import { NS, attributeOf, childOf, isNamed, textOf } from '../mechanisms/login/saml/elements.ts';
import { inflateRaw } from '../mechanisms/login/saml/inflate.ts';
import { isXmlProblem, readXml } from '../mechanisms/login/saml/xml.ts';
import type { XmlElement } from '../mechanisms/login/saml/xml_tree.ts';
import { type SamlAsked, formatWanted } from './saml_response.ts';

const LIMIT_BYTES = 65_536;
const UTF8 = new TextDecoder();

/** A message of a service provider to the development provider: who it is from is not verified, anybody may ask. */
export function readServiceMessage(encoded: string): XmlElement | string {
  const bytes = fromBase64(encoded);
  if (bytes === null) return 'the message is not base64';
  // By POST it is plain, by redirect it is compressed (Bindings §3.4.4.1).
  const xml = bytes[0] === '<'.charCodeAt(0) ? bytes : inflateRaw(bytes, LIMIT_BYTES);
  if (xml === null) return 'the message cannot be inflated';
  const root = readXml(UTF8.decode(xml));
  return isXmlProblem(root) ? `the message ${root.says}` : root;
}

/** What a login request asks for; a text says what is wrong with it. */
export function readLoginRequest(encoded: string, relayState: string | null): SamlAsked | string {
  const root = readServiceMessage(encoded);
  if (typeof root === 'string') return root;
  if (!isNamed(root, NS.protocol, 'AuthnRequest')) return 'the message is no AuthnRequest';
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
