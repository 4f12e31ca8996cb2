/**
 * * What our parser refuses although Node's parser accepts it in its strict mode, and why; there are no differences in
 * the other direction. The keys are the details of refusals.
 */

const CODING = 'RFC 9112 §6.1: who does not know a coding must not guess where the message ends';
const TWICE = 'two lines are two readings: the first, the last, or a list';
const OLD_CODING = 'RFC 9112 §6.1: chunks in HTTP/1.0 are faulty framing; a 1.0 reader does not undo them';
const LINES =
  'RFC 9112 §2.2: one empty line, CRLF, may come before a message; more of them, or bare CR or LF, are not allowed';
const TRAILER =
  'RFC 9110 §6.5.1: framing has no place behind the content that it frames, nor the end of the connection';
const EXTENSION = 'RFC 9112 §7.1.1: an extension has a name, and behind an equals sign a value';
const HUGE = 'a number that is not exact is not a length';

// table: requests
export const REQUEST_DIFFERENCES: Readonly<Record<string, string>> = {
  'there is more than one Host field':
    'RFC 9112 §3.2: 400; who routes by the first is not who routes by the last',
  'the only supported transfer coding is chunked': CODING,
  'Transfer-Encoding does not end in chunked': CODING,
  'there is more than one Transfer-Encoding field': TWICE,
  'HTTP/1.0 has no Transfer-Encoding': OLD_CODING,
  'HTTP/0.9 is not supported': 'RFC 9112 §3: a line without a version is not an HTTP/1 request',
  'HTTP/2 is not supported on this connection':
    'RFC 9113 §3: it is another protocol, whatever the line looks like',
  'the expectation is not supported': 'RFC 9110 §10.1.1: 417',
  'this is not a request line': LINES,
  'this is the start of a TLS handshake, and the port takes plain HTTP': LINES,
  'the request target has an unknown form':
    'RFC 9112 §3.2: `*` followed by anything is not one of the four forms',
  'the request target has a character that must be percent-encoded': 'one space between the parts, never two',
  'the version is not an HTTP/1 version': 'one space between the parts, never two',
  'a chunk size is too large': HUGE,
  'a trailer has a field that is only allowed in a head': TRAILER,
  'a chunk extension is malformed': EXTENSION,
};

// table: responses
export const RESPONSE_DIFFERENCES: Readonly<Record<string, string>> = {
  'the only supported transfer coding is chunked': CODING,
  'Transfer-Encoding does not end in chunked': CODING,
  'there is more than one Transfer-Encoding field': TWICE,
  'HTTP/1.0 has no Transfer-Encoding': OLD_CODING,
  'the reason phrase has a control character': 'RFC 9112 §4: tab, space and visible characters only',
  'this is not an HTTP/1 status line': LINES,
  'the status is invalid': 'RFC 9110 §15: 100 to 599',
  'an interim response closes the connection': 'the final one has to come on it',
  'a trailer has a field that is only allowed in a head': TRAILER,
  'a chunk extension is malformed': EXTENSION,
  'a chunk size is too large': HUGE,
};
