import { fromBase64 } from '../../crypto/base64.ts';
import { NS, attributeOf, elementsOf, everyElement, isNamed } from './elements.ts';
import { type SamlRefusal, refuse } from './reasons.ts';
import { signatureProblem } from './signature_shape.ts';
import { isXmlProblem, readXml } from './xml.ts';
import type { XmlElement } from './xml_tree.ts';

/** Largest message that is read, decoded. */
export const MESSAGE_LIMIT_BYTES = 262_144;

/** A message that may be looked at: well-formed, plain, each id once. Nothing in it is believed yet. */
export interface Message {
  readonly xml: string;
  readonly root: XmlElement;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes a message as a form brings it (Bindings §3.5.4): base64, whose lines may be broken, of XML in UTF-8. */
export function decodeMessage(encoded: string): { readonly xml: string } | SamlRefusal {
  // Four characters stand for three bytes; line ends come on top.
  if (encoded.length > MESSAGE_LIMIT_BYTES * 1.5) return refuse('too_large', { chars: encoded.length });
  const bytes = fromBase64(encoded.replaceAll(/[ \t\r\n]/g, ''));
  if (bytes === null) return refuse('base64_malformed');
  if (bytes.length > MESSAGE_LIMIT_BYTES) return refuse('too_large', { bytes: bytes.length });
  try {
    return { xml: UTF8.decode(bytes) };
  } catch {
    return refuse('encoding_malformed');
  }
}

/** Reads the XML of a message strictly, and looks at its ids. */
export function readMessage(xml: string): Message | SamlRefusal {
  const root = readXml(xml);
  if (isXmlProblem(root)) return refuse(root.problem, { message: root.message, offset: root.offset });
  return idProblem(root) ?? { xml, root };
}

/** An id is an NCName (XML Schema); more than this nobody needs. */
const ID = /^[A-Za-z_][A-Za-z0-9._-]{0,255}$/;

/** Whether a text can be the id of a message. */
export function isId(text: string | undefined): text is string {
  return text !== undefined && ID.test(text);
}

/**
 * Libraries differ in which attributes they take for ids: `ID`, `Id`, `id`, with or without namespace. In a message
 * none of their values occurs twice, so that a reference has one target for every reader.
 */
function idProblem(root: XmlElement): SamlRefusal | null {
  const seen = new Set<string>();
  for (const element of everyElement(root)) {
    const ids = element.attributes.filter(({ local }) => local.toLowerCase() === 'id');
    if (ids.length > 1) return refuse('unexpected_attribute', { element: element.local });
    const [id] = ids;
    if (id === undefined) continue;
    if (!isId(id.value)) return refuse('id_malformed', { id: id.value });
    if (seen.has(id.value)) return refuse('id_repeated', { id: id.value });
    seen.add(id.value);
  }
  return null;
}

/** Elements with their ids that carry a signature, in document order. */
export interface SignedElement {
  readonly element: XmlElement;
  readonly id: string;
}

/**
 * Finds all signatures of a message: each has to be a direct child of one of `carriers`, once in each, right behind
 * its issuer (Core §3.2.1), and of the one form that is read. There must be at least one.
 */
export function findSignatures(
  { root }: Message,
  carriers: readonly XmlElement[],
): readonly SignedElement[] | SamlRefusal {
  const all = [...everyElement(root)].filter(({ local }) => local === 'Signature');
  const found: SignedElement[] = [];
  for (const element of carriers) {
    const own = elementsOf(element).filter((child) => isNamed(child, NS.signature, 'Signature'));
    if (own.length > 1) return refuse('signatures_several', { element: element.local });
    if (own.length === 0) continue;
    const id = attributeOf(element, 'ID');
    if (!isId(id)) return refuse('id_malformed', { element: element.local });
    const problem = signatureProblem(own[0]!, id);
    if (problem !== null) return problem;
    found.push({ element, id });
  }
  if (all.length > found.length) return refuse('signature_misplaced', { signatures: all.length });
  if (found.length === 0) return refuse('unsigned');
  return found;
}
