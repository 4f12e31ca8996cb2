/**
 * What ours refuses although Node's parser takes it in its strict mode, and why; the other way round there is
 * nothing. The names are the details that a refusal says.
 */

const CODING = 'RFC 9112 §6.1: who does not know a coding must not guess where the message ends';
const TWICE = 'two lines are two readings: the first, the last, or a list';
const OLD_CODING = 'RFC 9112 §6.1: chunks in HTTP/1.0 are faulty framing; a 1.0 reader does not undo them';
const LINES =
  'RFC 9112 §2.2: one empty line, CRLF, may come before a message; more of them, or bare CR or LF, are nobody’s';
const TRAILER =
  'RFC 9110 §6.5.1: framing has no place behind the content that it frames, nor the end of the connection';
const EXTENSION = 'RFC 9112 §7.1.1: an extension has a name, and behind an equals sign a value';
const HUGE = 'a number that is not exact is not a length';

// table: requests
export const REQUEST_DIFFERENCES: Readonly<Record<string, string>> = {
  'there is more than one Host field':
    'RFC 9112 §3.2: 400; who routes by the first is not who routes by the last',
  'no transfer coding but chunked is spoken here': CODING,
  'Transfer-Encoding does not end in chunked': CODING,
  'there is more than one Transfer-Encoding field': TWICE,
  'HTTP/1.0 has no Transfer-Encoding': OLD_CODING,
  'HTTP/0.9 is not spoken here': 'RFC 9112 §3: a line without a version is no request of HTTP/1',
  'HTTP/2 is not spoken here': 'RFC 9113 §3: it is another protocol, whatever the line looks like',
  'this expectation is not known': 'RFC 9110 §10.1.1: 417',
  'this is no request line': LINES,
  'the request target has none of the forms that there are':
    'RFC 9112 §3.2: `*` and something is none of the four forms',
  'the request target has a character that must be percent-encoded': 'one space between the parts, never two',
  'the version is none of HTTP/1': 'one space between the parts, never two',
  'a chunk size is beyond what is exact': HUGE,
  'a trailer says what only a head may say': TRAILER,
  'a chunk extension is not one': EXTENSION,
};

// table: responses
export const RESPONSE_DIFFERENCES: Readonly<Record<string, string>> = {
  'no transfer coding but chunked is spoken here': CODING,
  'Transfer-Encoding does not end in chunked': CODING,
  'there is more than one Transfer-Encoding field': TWICE,
  'HTTP/1.0 has no Transfer-Encoding': OLD_CODING,
  'the reason phrase has a control character': 'RFC 9112 §4: tab, space and visible characters only',
  'this is no status line of HTTP/1': LINES,
  'the status is none': 'RFC 9110 §15: 100 to 599',
  'an interim response ends the connection': 'the final one has to come on it',
  'a trailer says what only a head may say': TRAILER,
  'a chunk extension is not one': EXTENSION,
  'a chunk size is beyond what is exact': HUGE,
};
