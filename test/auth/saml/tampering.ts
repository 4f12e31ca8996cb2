import {
  ATTACKER,
  KEY,
  XMLNS,
  assertionXml,
  cut,
  responseXml,
  signed,
  withSignedAssertion,
  withSignedResponse,
} from './forge.ts';
import type { Attack } from './wrapping.ts';

const GOOD = withSignedAssertion();
const C14N = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const ENVELOPED = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';
const RSA_SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
const SHA256 = 'http://www.w3.org/2001/04/xmlenc#sha256';
const swap = (from: string | RegExp, to: string, xml: string = GOOD): string => {
  const changed = xml.replace(from, to);
  if (changed === xml) throw new Error(`nothing changed by ${String(from)}`);
  return changed;
};
const DIGEST = /<DigestValue>([^<]*)<\/DigestValue>/.exec(GOOD)![1]!;
const OTHER_DIGEST = /<DigestValue>([^<]*)<\/DigestValue>/.exec(withSignedAssertion({ nameId: 'evil' }))![1]!;
const TRANSFORM_C14N = `<Transform Algorithm="${C14N}"/>`;
const bomb = (): string => {
  const levels = Array.from(
    { length: 9 },
    (_, level) => `<!ENTITY l${level + 1} "${`&l${level};`.repeat(10)}">`,
  );
  return `<!DOCTYPE r [<!ENTITY l0 "lol">${levels.join('')}]>${swap('>ann<', '>&l9;<')}`;
};

/** Documents whose signature, digest or text has been worked on. */
// table: tampering
export const TAMPERING: readonly Attack[] = [
  { name: 'another user', reason: 'signature_invalid', xml: swap('>ann<', '>evil<') },
  { name: 'another group', reason: 'signature_invalid', xml: swap('>staff<', '>admins<') },
  {
    name: 'another user, and its digest',
    reason: 'signature_invalid',
    xml: swap(DIGEST, OTHER_DIGEST, swap('>ann<', '>evil<')),
  },
  { name: 'a digest of nothing', reason: 'signature_malformed', xml: swap(DIGEST, '') },
  {
    name: 'two digests',
    reason: 'signature_malformed',
    xml: swap('</DigestValue>', `</DigestValue><DigestValue>${OTHER_DIGEST}</DigestValue>`),
  },
  {
    name: 'a comment before the digest (CVE-2025-29775)',
    reason: 'comment',
    xml: swap('<DigestValue>', `<DigestValue><!--${OTHER_DIGEST}-->`, swap('>ann<', '>evil<')),
  },
  {
    name: 'a comment within the digest',
    reason: 'comment',
    xml: swap(DIGEST, `${DIGEST.slice(0, 9)}<!---->${DIGEST.slice(9)}`),
  },
  {
    name: 'an element within the digest',
    reason: 'signature_malformed',
    xml: swap(DIGEST, `<x>${OTHER_DIGEST}</x>${DIGEST}`),
  },
  {
    name: 'two SignedInfo (CVE-2025-29774)',
    reason: 'signature_malformed',
    xml: swap('<SignedInfo>', `${cut(withSignedAssertion({ nameId: 'evil' }), 'SignedInfo')}<SignedInfo>`),
  },
  {
    name: 'SignedInfo in a wrapper',
    reason: 'signature_malformed',
    xml: swap('</SignedInfo>', '</SignedInfo></w>', swap('<SignedInfo>', '<w><SignedInfo>')),
  },
  {
    name: 'two references',
    reason: 'references_several',
    xml: swap('</Reference>', `</Reference>${cut(GOOD, 'Reference')}`),
  },
  { name: 'no reference', reason: 'references_several', xml: swap(cut(GOOD, 'Reference'), '') },
  {
    name: 'a reference to the whole document',
    reason: 'reference_elsewhere',
    xml: swap('URI="#_assertion"', 'URI=""'),
  },
  {
    name: 'a reference to the response',
    reason: 'reference_elsewhere',
    xml: swap('URI="#_assertion"', 'URI="#_response"'),
  },
  { name: 'a reference without URI', reason: 'reference_elsewhere', xml: swap(' URI="#_assertion"', '') },
  {
    name: 'a reference by XPointer',
    reason: 'reference_elsewhere',
    xml: swap('URI="#_assertion"', `URI="#xpointer(id('_assertion'))"`),
  },
  {
    name: 'a reference to elsewhere',
    reason: 'reference_elsewhere',
    xml: swap('URI="#_assertion"', 'URI="http://127.0.0.1/#_assertion"'),
  },
  {
    name: 'SHA-1 as digest',
    reason: 'digest_algorithm',
    xml: withSignedAssertion({}, { digest: 'sha1' }),
  },
  {
    name: 'SHA-1 in the signature',
    reason: 'signature_algorithm',
    xml: withSignedAssertion({}, { algorithm: 'sha1' }),
  },
  {
    name: 'HMAC with the public key',
    reason: 'signature_algorithm',
    xml: swap(RSA_SHA256, 'http://www.w3.org/2000/09/xmldsig#hmac-sha1'),
  },
  {
    name: 'HMAC of SHA-256',
    reason: 'signature_algorithm',
    xml: swap(RSA_SHA256, 'http://www.w3.org/2001/04/xmldsig-more#hmac-sha256'),
  },
  {
    name: 'an unknown signature algorithm',
    reason: 'signature_algorithm',
    xml: swap(RSA_SHA256, 'urn:none'),
  },
  {
    name: 'no signature algorithm',
    reason: 'signature_algorithm',
    xml: swap(` Algorithm="${RSA_SHA256}"`, ''),
  },
  {
    name: 'a parameter of the signature algorithm',
    reason: 'signature_algorithm',
    xml: swap(
      `<SignatureMethod Algorithm="${RSA_SHA256}"/>`,
      `<SignatureMethod Algorithm="${RSA_SHA256}"><HMACOutputLength>0</HMACOutputLength></SignatureMethod>`,
    ),
  },
  { name: 'an unknown digest algorithm', reason: 'digest_algorithm', xml: swap(SHA256, 'urn:none') },
  {
    name: 'an XSLT transform',
    reason: 'transform',
    xml: swap(
      TRANSFORM_C14N,
      '<Transform Algorithm="http://www.w3.org/TR/1999/REC-xslt-19991116"><x/></Transform>',
    ),
  },
  {
    name: 'an XPath transform',
    reason: 'transform',
    xml: swap(
      TRANSFORM_C14N,
      '<Transform Algorithm="http://www.w3.org/TR/1999/REC-xpath-19991116"><XPath>//x</XPath></Transform>',
    ),
  },
  {
    name: 'an XPath filter beside the two',
    reason: 'transform',
    xml: swap(
      '</Transforms>',
      '<Transform Algorithm="http://www.w3.org/2002/06/xmldsig-filter2"/></Transforms>',
    ),
  },
  {
    name: 'base64 as transform',
    reason: 'transform',
    xml: swap(TRANSFORM_C14N, '<Transform Algorithm="http://www.w3.org/2000/09/xmldsig#base64"/>'),
  },
  { name: 'no transforms', reason: 'transform', xml: swap(cut(GOOD, 'Transforms'), '') },
  {
    name: 'the enveloped transform alone',
    reason: 'transform',
    xml: withSignedAssertion({}, { transforms: [ENVELOPED] }),
  },
  {
    name: 'inclusive canonicalization as transform',
    reason: 'transform',
    xml: withSignedAssertion(
      {},
      { transforms: [ENVELOPED, 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315'] },
    ),
  },
  {
    name: 'exclusive canonicalization with comments',
    reason: 'transform',
    xml: withSignedAssertion({}, { transforms: [ENVELOPED, `${C14N}WithComments`] }),
  },
  {
    name: 'another canonicalization of SignedInfo',
    reason: 'canonicalization',
    xml: swap(
      `<CanonicalizationMethod Algorithm="${C14N}"/>`,
      '<CanonicalizationMethod Algorithm="http://www.w3.org/TR/2001/REC-xml-c14n-20010315"/>',
    ),
  },
  {
    name: "an attacker's signature with the attacker's certificate in it",
    reason: 'signature_invalid',
    xml: withSignedAssertion({ nameId: 'evil' }, { key: ATTACKER }),
  },
  {
    name: "the provider's certificate beside an attacker's signature",
    reason: 'signature_invalid',
    xml: swap(
      /<X509Certificate>[^<]*</,
      `<X509Certificate>${KEY.certificatePem.replaceAll(/-----[^-]*-----|\s/g, '')}<`,
      withKeyInfo(withSignedAssertion({ nameId: 'evil' }, { key: ATTACKER })),
    ),
  },
  {
    name: 'a key to be fetched',
    reason: 'key_info',
    xml: swap(
      '</SignatureValue>',
      '</SignatureValue><KeyInfo><RetrievalMethod URI="http://127.0.0.1/"/></KeyInfo>',
      swap(/<KeyInfo>[\s\S]*<\/KeyInfo>/, '', withKeyInfo(GOOD)),
    ),
  },
  {
    name: 'foreign elements in the key',
    reason: 'key_info',
    xml: swap(
      '</SignatureValue>',
      '</SignatureValue><KeyInfo><x xmlns="urn:x"/></KeyInfo>',
      swap(/<KeyInfo>[\s\S]*<\/KeyInfo>/, '', withKeyInfo(GOOD)),
    ),
  },
  {
    name: 'no signature value',
    reason: 'signature_malformed',
    xml: swap(/<SignatureValue>[^<]*</, '<SignatureValue><'),
  },
  {
    name: 'a good assertion in a badly signed response',
    reason: 'signature_invalid',
    xml: swap(
      '</samlp:StatusCode>',
      '</samlp:StatusCode><samlp:StatusMessage>x</samlp:StatusMessage>',
      signed(GOOD, 'Response').replace(
        /<samlp:StatusCode ([^>]*)\/>/,
        '<samlp:StatusCode $1></samlp:StatusCode>',
      ),
    ),
  },
  {
    name: 'a bad assertion in a well signed response',
    reason: 'signature_invalid',
    xml: signed(swap('>ann<', '>evil<'), 'Response'),
  },
  {
    name: 'a comment in the name',
    reason: 'comment',
    xml: withSignedAssertion({ nameId: 'admin<!---->.evil' }),
  },
  {
    name: 'a comment put into a signed name',
    reason: 'comment',
    xml: swap('>ann<', '>a<!---->nn<'),
  },
  { name: 'a comment outside of it all', reason: 'comment', xml: `${GOOD}<!-- -->` },
  {
    name: 'a processing instruction in the name',
    reason: 'processing_instruction',
    xml: swap('>ann<', '>a<?x?>nn<'),
  },
  {
    name: 'a style sheet',
    reason: 'processing_instruction',
    xml: `<?xml-stylesheet href="x"?>${GOOD}`,
  },
  { name: 'CDATA in the name', reason: 'cdata', xml: swap('>ann<', '><![CDATA[ann]]><') },
  { name: 'a document type', reason: 'doctype', xml: `<!DOCTYPE samlp:Response>${GOOD}` },
  {
    name: 'an entity that is declared',
    reason: 'doctype',
    xml: `<!DOCTYPE r [<!ENTITY e "ann">]>${swap('>ann<', '>&e;<')}`,
  },
  {
    name: 'an entity from outside',
    reason: 'doctype',
    xml: `<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]>${swap('>ann<', '>&e;<')}`,
  },
  { name: 'a bomb of entities', reason: 'doctype', xml: bomb() },
  { name: 'an entity that is not declared', reason: 'entity', xml: swap('>ann<', '>&e;<') },
  { name: 'a null character', reason: 'malformed', xml: swap('>ann<', '>ann&#0;<') },
  { name: 'half of it', reason: 'malformed', xml: GOOD.slice(0, GOOD.length / 2) },
  { name: 'all but its last character', reason: 'malformed', xml: GOOD.slice(0, -1) },
  { name: 'something behind it', reason: 'malformed', xml: `${GOOD}<x/>` },
  {
    name: 'a prefix that is not declared',
    reason: 'malformed',
    xml: swap('<samlp:Status>', '<evil:x/><samlp:Status>'),
  },
  {
    name: 'an attribute twice',
    reason: 'malformed',
    xml: swap(' Version="2.0"', ' Version="2.0" Version="2.0"'),
  },
  {
    name: 'UTF-16 by its declaration',
    reason: 'malformed',
    xml: `<?xml version="1.0" encoding="UTF-16"?>${GOOD}`,
  },
  {
    name: 'elements within elements without end',
    reason: 'too_complex',
    xml: responseXml({}, `${'<a>'.repeat(60)}${'</a>'.repeat(60)}`),
  },
  { name: 'very many elements', reason: 'too_complex', xml: responseXml({}, '<a/>'.repeat(9_000)) },
  {
    name: 'very many attributes',
    reason: 'too_complex',
    xml: responseXml({}, `<a ${Array.from({ length: 60 }, (_, n) => `a${n}=""`).join(' ')}/>`),
  },
  { name: 'a megabyte of blanks', reason: 'too_large', xml: `${' '.repeat(1_000_000)}${GOOD}` },
  {
    name: 'two attributes for an id',
    reason: 'unexpected_attribute',
    xml: swap('ID="_assertion"', 'ID="_assertion" Id="_other"'),
  },
  {
    name: 'an id with a quote in it',
    reason: 'id_malformed',
    xml: withSignedResponse({ assertionId: "a' or '1'='1" }),
  },
  {
    name: 'the same id on response and assertion',
    reason: 'id_repeated',
    xml: responseXml({ responseId: '_assertion' }, assertionXml()).replace(
      '<samlp:Status>',
      `${cut(GOOD, 'Signature')}<samlp:Status>`,
    ),
  },
  {
    name: 'no id of the assertion',
    reason: 'signed_part_differs',
    xml: signed(responseXml({}, assertionXml().replace(' ID="_assertion"', '')), 'Response'),
  },
  { name: 'HTML', reason: 'malformed', xml: '<html><body><p>login<br></body></html>' },
  { name: 'nothing', reason: 'malformed', xml: '' },
  {
    name: 'an empty response',
    reason: 'status_malformed',
    xml: `<samlp:Response ${XMLNS} ID="_r" Version="2.0"/>`,
  },
];

/** The library adds no key information by default; most identity providers send it. */
function withKeyInfo(xml: string): string {
  if (xml.includes('<KeyInfo>')) return xml;
  return xml.replace(
    '</SignatureValue>',
    '</SignatureValue><KeyInfo><X509Data><X509Certificate>QUJD</X509Certificate></X509Data></KeyInfo>',
  );
}
