import {
  type Scan,
  XML_LIMITS,
  type XmlOptions,
  XmlRefusal,
  isXmlText,
  problemAt,
  skipBlanks,
  readReference,
} from './xml_scan.ts';
import { type Frame, type NamespaceScope, openElement, XML_ROOT_SCOPE } from './xml_tag.ts';
import type { XmlElement, XmlProblem } from './xml_tree.ts';

/**
 * Parses a small subset of XML 1.0 with namespaces: elements, attributes, text, the five predefined entities
 * and numeric character references. Constructs that parsers may interpret differently are refused: document
 * types, entities, processing instructions, CDATA, and comments (skipped in metadata where they do not split
 * a text). Time and memory are linear in the input, whose size is limited.
 */
export function readXml(text: string, options: XmlOptions = {}): XmlElement | XmlProblem {
  const limitChars = options.limitChars ?? XML_LIMITS.chars;
  if (text.length > limitChars) {
    return { problem: 'too_large', message: `is longer than ${limitChars} characters`, offset: limitChars };
  }
  const { limitElements = XML_LIMITS.elements, comments = 'refuse' } = options;
  const scan: Scan = { text, at: 0, elements: 0, limitElements, comments };
  try {
    return readDocument(scan);
  } catch (error) {
    if (error instanceof XmlRefusal) return error.found;
    throw error;
  }
}

/** Narrows the result of `readXml`. */
export function isXmlProblem(read: XmlElement | XmlProblem): read is XmlProblem {
  return 'problem' in read;
}

const DECLARATION =
  /<\?xml[ \t\r\n]+version=(?:"1\.0"|'1\.0')(?:[ \t\r\n]+encoding=(?:"([^"]*)"|'([^']*)'))?(?:[ \t\r\n]+standalone=(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\r\n]*\?>/y;

function readDocument(scan: Scan): XmlElement {
  DECLARATION.lastIndex = 0;
  const declared = DECLARATION.exec(scan.text);
  if (declared !== null) {
    const encoding = declared[1] ?? declared[2];
    // The text was decoded as UTF-8; another encoding would result in another document.
    if (encoding !== undefined && encoding.toLowerCase() !== 'utf-8') {
      throw problemAt(scan, 'malformed', `is declared as ${encoding.slice(0, 40)}, not UTF-8`);
    }
    scan.at = declared[0].length;
  }
  skipOutside(scan);
  if (scan.text[scan.at] !== '<') throw problemAt(scan, 'malformed', 'has text before its root element');
  const root = readElement(scan, XML_ROOT_SCOPE, 0);
  skipOutside(scan);
  if (scan.at < scan.text.length) throw problemAt(scan, 'malformed', 'has content after its root element');
  return root;
}

/** Skips white space, and comments if allowed, around the root element. */
function skipOutside(scan: Scan): void {
  for (;;) {
    skipBlanks(scan);
    if (scan.text.startsWith('<?', scan.at) || scan.text.startsWith('<!', scan.at)) readMarkup(scan);
    else return;
  }
}

function readElement(scan: Scan, outer: NamespaceScope, depth: number): XmlElement {
  if (depth > XML_LIMITS.depth)
    throw problemAt(scan, 'too_complex', `is nested deeper than ${XML_LIMITS.depth}`);
  if (++scan.elements > scan.limitElements) {
    throw problemAt(scan, 'too_complex', `has more than ${scan.limitElements} elements`);
  }
  const frame = openElement(scan, outer);
  const { local, namespace, attributes, offset } = frame;
  const children = frame.isEmpty ? [] : readContent(scan, frame, depth);
  return { local, namespace, attributes, children, offset };
}

function readContent(scan: Scan, frame: Frame, depth: number): (XmlElement | string)[] {
  const children: (XmlElement | string)[] = [];
  let text = '';
  let commentAt = -1;
  const endText = (): void => {
    if (text === '') return;
    children.push(text);
    text = '';
  };
  for (;;) {
    const next = scan.text[scan.at];
    if (next === undefined) throw problemAt(scan, 'malformed', `ends inside <${frame.name}>`);
    if (next === '&') text += readReference(scan);
    else if (next !== '<') text += readText(scan);
    else if (scan.text[scan.at + 1] === '/') {
      readEnd(scan, frame);
      endText();
      refuseSplit(scan, children, commentAt);
      return children;
    } else if (scan.text[scan.at + 1] === '!' || scan.text[scan.at + 1] === '?') {
      commentAt = scan.at;
      readMarkup(scan);
    } else {
      endText();
      children.push(readElement(scan, frame.scope, depth + 1));
    }
  }
}

/** A comment inside a text is read differently by different parsers: `admin<!---->@evil`. */
function refuseSplit(scan: Scan, children: readonly (XmlElement | string)[], commentAt: number): void {
  if (commentAt < 0) return;
  if (children.some((child) => typeof child === 'string' && child.trim() !== '')) {
    scan.at = commentAt;
    throw problemAt(scan, 'comment', 'has a comment within a text');
  }
}

function readText(scan: Scan): string {
  const { text, at } = scan;
  let end = at;
  while (end < text.length && text[end] !== '<' && text[end] !== '&') end++;
  const read = text.slice(at, end);
  // XML 1.0 §2.4: text must not contain this sequence.
  if (read.includes(']]>')) throw problemAt(scan, 'malformed', "contains ']]>' in a text");
  if (!isXmlText(read)) throw problemAt(scan, 'malformed', 'has characters that XML does not allow');
  scan.at = end;
  // XML 1.0 §2.11: line ends are normalized.
  return read.replaceAll(/\r\n?/g, '\n');
}

const END_TAG = /<\/([^\s>]+)[ \t\r\n]*>/y;

function readEnd(scan: Scan, frame: Frame): void {
  END_TAG.lastIndex = scan.at;
  const end = END_TAG.exec(scan.text);
  if (end?.[1] !== frame.name) throw problemAt(scan, 'malformed', `has no end tag of <${frame.name}> here`);
  scan.at += end[0].length;
}

/** Handles `<!` and `<?`: refused, except comments where they are skipped. */
function readMarkup(scan: Scan): void {
  const rest = scan.text.slice(scan.at, scan.at + 9);
  if (rest.startsWith('<?')) throw problemAt(scan, 'processing_instruction', 'has a processing instruction');
  if (rest.startsWith('<![CDATA[')) throw problemAt(scan, 'cdata', 'has a CDATA section');
  if (!rest.startsWith('<!--'))
    throw problemAt(scan, 'doctype', 'has a document type declaration or another declaration');
  if (scan.comments === 'refuse') throw problemAt(scan, 'comment', 'has a comment');
  const end = scan.text.indexOf('--', scan.at + 4);
  if (end < 0 || scan.text[end + 2] !== '>') throw problemAt(scan, 'malformed', 'has a malformed comment');
  scan.at = end + 3;
}
