import { type CaseGroup, type ExchangeCase, get, H, passed, unserved } from '../case.ts';

const to = (
  name: string,
  target: string,
  forwarded: string,
  more: Partial<ExchangeCase> = {},
): ExchangeCase =>
  passed(name, get(target), { line: `GET ${forwarded} HTTP/1.1`, has: ['host: a.test'] }, more);
const bad = (name: string, target: string, more: Partial<ExchangeCase> = {}): ExchangeCase =>
  unserved(name, 400, get(target), 'request.malformed', more);

/** Request targets, and their form for the upstream. */
// table: cases
export const TARGETS: CaseGroup = {
  title: 'Targets and normalisation',
  why: 'the target is normalised before routing, and the upstream gets the canonical form (RFC 3986 §6.2.2); nginx and HAProxy pass on the original spelling',
  cases: [
    to('unchanged', '/a/b?c=d&e', '/a/b?c=d&e'),
    to('an empty query', '/a?', '/a?'),
    to('question marks in a query', '/a?b?c', '/a?b?c'),
    to('dot segments', '/a/./b/../c', '/a/c'),
    to('dot segments at the end', '/a/b/..', '/a/'),
    to('encoded dot segments', '/a/%2e%2E/b', '/b'),
    to('climbing above the root', '/../../a', '/a'),
    to('two slashes', '//a//b', '/a/b'),
    to('encoded letters', '/%61%7E', '/a~'),
    to('hex digits in lower case', '/a%3ab', '/a%3Ab'),
    to('an encoded slash', '/a%2fb', '/a%2Fb'),
    to('an encoded percent sign', '/a%2525', '/a%2525'),
    to('a path parameter', '/a;b=c/d', '/a;b=c/d'),
    to('dot segments in a query', '/a?x=/../b', '/a?x=/../b'),
    to('brackets in a query', '/a?x[]=1', '/a?x[]=1'),
    to('quotes in a path', '/a"b', '/a%22b'),
    bad('a dot segment behind an encoded slash', '/a%2f..%2fb'),
    bad('a dot segment with a path parameter', '/a/..;/b'),
    bad('percent sign without digits', '/a%'),
    bad('percent sign with one digit', '/a%4'),
    bad('percent sign with other letters', '/a%zz'),
    bad('encoded NUL', '/a%00b'),
    bad('encoded LF', '/a%0ab'),
    bad('a fragment', '/a#b', { after: undefined! }),
    bad('a backslash', '/a\\b'),
    unserved('asterisk with OPTIONS', 400, `OPTIONS * HTTP/1.1\r\n${H}\r\n`, 'request.malformed', {
      why: 'no route can match it',
    }),
    unserved('asterisk with GET', 400, `GET * HTTP/1.1\r\n${H}\r\n`, 'request.malformed'),
    unserved('no slash first', 400, `GET a HTTP/1.1\r\n${H}\r\n`, 'request.malformed'),
    passed('absolute form', `GET http://a.test/x?y HTTP/1.1\r\n${H}\r\n`, {
      line: 'GET /x?y HTTP/1.1',
      has: ['host: a.test'],
    }),
    passed('absolute form without a path', `GET http://a.test HTTP/1.1\r\n${H}\r\n`, {
      line: 'GET / HTTP/1.1',
      has: ['host: a.test'],
    }),
    passed('absolute form in capitals', `GET HTTP://A.TEST/ HTTP/1.1\r\n${H}\r\n`, {
      line: 'GET / HTTP/1.1',
    }),
    unserved(
      'absolute form that differs from Host',
      400,
      `GET http://b.test/ HTTP/1.1\r\n${H}\r\n`,
      'request.malformed',
      { why: 'RFC 9112 §3.2.2 prefers the target; two parsers could choose different sites' },
    ),
    unserved(
      'absolute form with user info',
      400,
      `GET http://u@a.test/ HTTP/1.1\r\n${H}\r\n`,
      'request.malformed',
    ),
    unserved(
      'absolute form of another scheme',
      400,
      `GET ftp://a.test/ HTTP/1.1\r\n${H}\r\n`,
      'request.malformed',
    ),
    unserved('authority form with GET', 400, `GET a.test:80 HTTP/1.1\r\n${H}\r\n`, 'request.malformed'),
    unserved('eighth bit in a target', 400, get('/\xe9'), 'request.malformed'),
    unserved('a control character in a target', 400, get('/a\x01'), 'request.malformed'),
    unserved('DEL in a target', 400, get('/a\x7f'), 'request.malformed'),
  ],
};
