import { fromBase64 } from '../../crypto/base64.ts';
import { NS, attributeOf, elementsOf, hasOnlyElements, isNamed, textOf } from './elements.ts';
import { type SamlRefusal, refuse } from './reasons.ts';
import type { XmlElement } from './xml_tree.ts';

const DS = NS.signature;

/** RSA with SHA-2 (RFC 6931 §2.3): the secure algorithms that the verifying library supports. */
const SIGNATURE_ALGORITHMS: ReadonlySet<string> = new Set([
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
]);

const DIGEST_ALGORITHMS: ReadonlySet<string> = new Set([
  'http://www.w3.org/2001/04/xmlenc#sha256',
  'http://www.w3.org/2001/04/xmlenc#sha512',
]);

/** Exclusive canonicalization without comments (xml-exc-c14n §4). */
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const ENVELOPED = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';

/** Allowed children of `KeyInfo`. They are ignored: keys come only from the metadata. */
const KEY_INFO: ReadonlySet<string> = new Set([
  'X509Data',
  'X509Certificate',
  'X509SubjectName',
  'X509IssuerSerial',
  'X509IssuerName',
  'X509SerialNumber',
  'X509SKI',
  'KeyName',
  'KeyValue',
  'RSAKeyValue',
  'Modulus',
  'Exponent',
]);

/**
 * Checks the structure of a signature before it is verified. SAML allows one form (Core §5.4): one reference,
 * to the parent element, with the transforms enveloped signature and exclusive canonicalization.
 */
export function signatureProblem(signature: XmlElement, id: string): SamlRefusal | null {
  if (elementsOf(signature).some((child) => isNamed(child, DS, 'Object'))) return refuse('signature_object');
  const parts = sequence(signature, ['SignedInfo', 'SignatureValue'], 'KeyInfo');
  if (parts === null) return refuse('signature_malformed', { in: 'Signature' });
  const [info, value, keyInfo] = parts;
  if (!isBase64(value)) return refuse('signature_malformed', { in: 'SignatureValue' });
  if (keyInfo !== undefined && !isPlainKeyInfo(keyInfo)) return refuse('key_info');
  return signedInfoProblem(info!, id);
}

function signedInfoProblem(info: XmlElement, id: string): SamlRefusal | null {
  const references = elementsOf(info).filter((child) => isNamed(child, DS, 'Reference'));
  if (references.length !== 1) return refuse('references_several', { references: references.length });
  const parts = sequence(info, ['CanonicalizationMethod', 'SignatureMethod', 'Reference']);
  if (parts === null) return refuse('signature_malformed', { in: 'SignedInfo' });
  const [canonicalization, method, reference] = parts;
  if (!isAlgorithm(canonicalization!, EXCLUSIVE)) {
    return refuse('canonicalization', { algorithm: attributeOf(canonicalization!, 'Algorithm') });
  }
  const algorithm = attributeOf(method!, 'Algorithm') ?? '';
  if (!SIGNATURE_ALGORITHMS.has(algorithm) || elementsOf(method!).length > 0) {
    return refuse('signature_algorithm', { algorithm });
  }
  return referenceProblem(reference!, id);
}

function referenceProblem(reference: XmlElement, id: string): SamlRefusal | null {
  const uri = attributeOf(reference, 'URI');
  if (uri !== `#${id}`) return refuse('reference_elsewhere', { uri, id });
  const parts = sequence(reference, ['Transforms', 'DigestMethod', 'DigestValue']);
  if (parts === null) {
    const hasTransforms = elementsOf(reference).some((child) => isNamed(child, DS, 'Transforms'));
    return hasTransforms ? refuse('signature_malformed', { in: 'Reference' }) : refuse('transform');
  }
  const [transforms, method, value] = parts;
  const digest = attributeOf(method!, 'Algorithm') ?? '';
  if (!DIGEST_ALGORITHMS.has(digest) || elementsOf(method!).length > 0) {
    return refuse('digest_algorithm', { algorithm: digest });
  }
  if (!isBase64(value)) return refuse('signature_malformed', { in: 'DigestValue' });
  return transformsProblem(transforms!);
}

function transformsProblem(transforms: XmlElement): SamlRefusal | null {
  const list = elementsOf(transforms);
  const algorithms = list.map((each) => attributeOf(each, 'Algorithm') ?? '');
  const [enveloped, exclusive] = list;
  const isKnown =
    list.length === 2 &&
    list.every((each) => isNamed(each, DS, 'Transform')) &&
    isAlgorithm(enveloped!, ENVELOPED) &&
    elementsOf(enveloped!).length === 0 &&
    isAlgorithm(exclusive!, EXCLUSIVE);
  return isKnown ? null : refuse('transform', { algorithms: algorithms.join(' ') });
}

/**
 * Whether an element names this algorithm, with no parameter except the prefix list of exclusive
 * canonicalization.
 */
function isAlgorithm(element: XmlElement, algorithm: string): boolean {
  return (
    attributeOf(element, 'Algorithm') === algorithm &&
    hasOnlyElements(element) &&
    elementsOf(element).every((child) => isNamed(child, NS.exclusive, 'InclusiveNamespaces'))
  );
}

/** The children if they are exactly these, in this order, and optionally one more; otherwise null. */
function sequence(
  element: XmlElement,
  names: readonly string[],
  last?: string,
): readonly (XmlElement | undefined)[] | null {
  const children = elementsOf(element);
  if (!hasOnlyElements(element)) return null;
  const wanted = children.length === names.length + 1 && last !== undefined ? [...names, last] : names;
  const fits =
    children.length === wanted.length && children.every((child, at) => isNamed(child, DS, wanted[at]!));
  return fits ? children : null;
}

/** Base64 text without child elements; white space is allowed (XML Signature §4.2). */
function isBase64(element: XmlElement | undefined): boolean {
  const text = element === undefined ? null : textOf(element);
  const bytes = text === null ? null : fromBase64(text.replaceAll(/[ \t\r\n]/g, ''));
  return bytes !== null && bytes.length > 0;
}

function isPlainKeyInfo(keyInfo: XmlElement): boolean {
  return elementsOf(keyInfo).every(
    (child) => child.namespace === DS && KEY_INFO.has(child.local) && isPlainKeyInfo(child),
  );
}
