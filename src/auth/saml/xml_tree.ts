/** An attribute; its namespace is empty if it has no prefix. Namespace declarations are not attributes. */
export interface XmlAttribute {
  readonly local: string;
  readonly namespace: string;
  readonly value: string;
}

/** An element with its expanded name (Namespaces in XML 1.0 §2.1). */
export interface XmlElement {
  readonly local: string;
  readonly namespace: string;
  readonly attributes: readonly XmlAttribute[];
  readonly children: readonly (XmlElement | string)[];
  /** UTF-16 offset of its `<`. */
  readonly offset: number;
}

export type XmlProblemCode =
  | 'too_large'
  | 'doctype'
  | 'entity'
  | 'comment'
  | 'cdata'
  | 'processing_instruction'
  | 'too_complex'
  | 'malformed';

/** Why a text was refused, and where. */
export interface XmlProblem {
  readonly problem: XmlProblemCode;
  /** The predicate of a sentence about the text. */
  readonly message: string;
  readonly offset: number;
}
