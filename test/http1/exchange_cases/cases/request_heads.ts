import { type CaseGroup, H, passed, refused, unserved } from '../case.ts';

/** Request line and field lines. */
// table: cases
export const REQUEST_HEADS: CaseGroup = {
  title: 'Request line and fields',
  why: 'RFC 9112 §2.2, §3 and §5 allow servers to repair some of these; the next server may read the original differently, so all are refused',
  cases: [
    passed('the least there can be', `GET / HTTP/1.1\r\n${H}\r\n`, { line: 'GET / HTTP/1.1', body: '' }),
    passed(
      'an empty line before the request',
      `\r\nGET / HTTP/1.1\r\n${H}\r\n`,
      { line: 'GET / HTTP/1.1' },
      { why: 'RFC 9112 §2.2: at least one empty line should be ignored' },
    ),
    passed('a field with an empty value', `GET / HTTP/1.1\r\n${H}X-Empty:\r\n\r\n`, {
      line: 'GET / HTTP/1.1',
      has: ['x-empty: '],
    }),
    passed('white space around a value', `GET / HTTP/1.1\r\n${H}X: \t a \t \r\n\r\n`, {
      line: 'GET / HTTP/1.1',
      has: ['x: a'],
    }),
    passed('no white space before a value', `GET / HTTP/1.1\r\nHost:a.test\r\nX:a\r\n\r\n`, {
      line: 'GET / HTTP/1.1',
      has: ['x: a', 'host: a.test'],
    }),
    passed(
      'every token character in a name',
      `GET / HTTP/1.1\r\n${H}!#$%&'*+-.^_\`|~09aZ: a\r\n\r\n`,
      { line: 'GET / HTTP/1.1', has: ["!#$%&'*+-.^_`|~09az: a"] },
      {
        underscores: 'pass',
        why: 'RFC 9110 §5.1: names are tokens; nginx drops names that CGI cannot represent',
      },
    ),
    passed('a colon and an eighth bit in a value', `GET / HTTP/1.1\r\n${H}X: a:b \xe4\r\n\r\n`, {
      line: 'GET / HTTP/1.1',
      has: ['x: a:b \xe4'],
    }),
    passed('the same name twice', `GET / HTTP/1.1\r\n${H}X: a\r\nX: b\r\n\r\n`, {
      line: 'GET / HTTP/1.1',
      has: ['x: a', 'x: b'],
    }),
    passed('names that differ in case', `GET / HTTP/1.1\r\n${H}x: a\r\nX: b\r\n\r\n`, {
      line: 'GET / HTTP/1.1',
      has: ['x: a', 'x: b'],
    }),
    passed(
      'underscore in a name',
      `GET / HTTP/1.1\r\n${H}X_Y: a\r\n\r\n`,
      { line: 'GET / HTTP/1.1', lacks: ['x_y'] },
      { why: 'CGI cannot distinguish `X_Y` from `X-Y`; dropped by default, as in nginx' },
    ),
    passed(
      'underscore in a name, if allowed',
      `GET / HTTP/1.1\r\n${H}X_Y: a\r\n\r\n`,
      { line: 'GET / HTTP/1.1', has: ['x_y: a'] },
      { underscores: 'pass', why: '`underscore_headers: pass`; nginx drops such names by default' },
    ),
    passed('PATCH', `PATCH / HTTP/1.1\r\n${H}Content-Length: 1\r\n\r\nx`, {
      line: 'PATCH / HTTP/1.1',
      body: 'x',
    }),
    passed('DELETE without content', `DELETE / HTTP/1.1\r\n${H}\r\n`, {
      line: 'DELETE / HTTP/1.1',
      body: '',
    }),
    passed('OPTIONS of a path', `OPTIONS /x HTTP/1.1\r\n${H}\r\n`, { line: 'OPTIONS /x HTTP/1.1' }),
    refused('obs-fold', 400, `GET / HTTP/1.1\r\n${H}X: a\r\n b\r\n\r\n`),
    refused('obs-fold with a tab', 400, `GET / HTTP/1.1\r\n${H}X: a\r\n\tb\r\n\r\n`),
    refused('white space before the first field', 400, `GET / HTTP/1.1\r\n ${H}\r\n`),
    refused('bare LF after the request line', 400, `GET / HTTP/1.1\n${H}\r\n`),
    refused('bare LF after a field', 400, `GET / HTTP/1.1\r\n${H}X: a\nY: b\r\n\r\n`),
    refused('bare LF at the end of the head', 400, `GET / HTTP/1.1\r\n${H}\n`),
    refused('bare LF everywhere', 400, 'GET / HTTP/1.1\nHost: a.test\n\n'),
    refused('bare CR in a value', 400, `GET / HTTP/1.1\r\n${H}X: a\rY: b\r\n\r\n`),
    refused('bare CR in the request line', 400, `GET /\r HTTP/1.1\r\n${H}\r\n`),
    refused('two CR before LF', 400, `GET / HTTP/1.1\r\n${H}X: a\r\r\n\r\n`),
    refused('space before the colon', 400, `GET / HTTP/1.1\r\n${H}X : a\r\n\r\n`),
    refused('tab before the colon', 400, `GET / HTTP/1.1\r\n${H}X\t: a\r\n\r\n`),
    refused('NUL in a value', 400, `GET / HTTP/1.1\r\n${H}X: a\0b\r\n\r\n`),
    refused('NUL in a name', 400, `GET / HTTP/1.1\r\n${H}X\0Y: a\r\n\r\n`),
    refused('control character in a value', 400, `GET / HTTP/1.1\r\n${H}X: a\x01b\r\n\r\n`),
    refused('DEL in a value', 400, `GET / HTTP/1.1\r\n${H}X: a\x7fb\r\n\r\n`),
    refused('vertical tab before a value', 400, `GET / HTTP/1.1\r\n${H}X: \x0ba\r\n\r\n`),
    refused('empty name', 400, `GET / HTTP/1.1\r\n${H}: a\r\n\r\n`),
    refused('a line without a colon', 400, `GET / HTTP/1.1\r\n${H}nonsense\r\n\r\n`),
    refused('parenthesis in a name', 400, `GET / HTTP/1.1\r\n${H}X(y): a\r\n\r\n`),
    refused('eighth bit in a name', 400, `GET / HTTP/1.1\r\n${H}X\xe4: a\r\n\r\n`),
    refused('two spaces after the method', 400, `GET  / HTTP/1.1\r\n${H}\r\n`),
    refused('two spaces before the version', 400, `GET /  HTTP/1.1\r\n${H}\r\n`),
    refused('tabs between the parts', 400, `GET\t/\tHTTP/1.1\r\n${H}\r\n`),
    refused('space behind the version', 400, `GET / HTTP/1.1 \r\n${H}\r\n`),
    refused('space before the method', 400, ` GET / HTTP/1.1\r\n${H}\r\n`),
    refused('no target', 400, `GET HTTP/1.1\r\n${H}\r\n`),
    refused('method with a character that no token has', 400, `G(T / HTTP/1.1\r\n${H}\r\n`),
    refused('version in lower case', 400, `GET / http/1.1\r\n${H}\r\n`),
    refused('version with two digits', 400, `GET / HTTP/1.10\r\n${H}\r\n`),
    refused('HTTP/0.9 line', 505, 'GET /\r\n\r\n', 'request.version'),
    refused('HTTP/2.0 in an HTTP/1 head', 505, `GET / HTTP/2.0\r\n${H}\r\n`, 'request.version'),
    // The HTTP/2 preface is served, see test/http2/server.test.ts.
    refused(
      'a TLS client hello',
      400,
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\x00\x00\r\n\r\n',
      'request.malformed',
      { after: 'closed' },
    ),
    refused('not HTTP', 400, 'hello\r\n\r\n'),
    unserved('a method that is not registered', 405, `BREW / HTTP/1.1\r\n${H}\r\n`, 'request.method', {
      after: 'closed',
    }),
    unserved('a method in lower case', 405, `get / HTTP/1.1\r\n${H}\r\n`, 'request.method', {
      after: 'closed',
    }),
    refused('HTTP/1.2', 400, `GET / HTTP/1.2\r\n${H}\r\n`),
    unserved('TRACE', 405, `TRACE / HTTP/1.1\r\n${H}\r\n`, 'request.method'),
    unserved('CONNECT', 405, 'CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n', 'request.method', {
      why: 'an edge does not open tunnels to arbitrary hosts',
    }),
  ],
};
