import { type CaseGroup, H, passed, post, refused } from '../case.ts';

const CL = 'Content-Length';
const TE = 'Transfer-Encoding';
const ZERO = '0\r\n\r\n';

/** The end of a request. */
// table: cases
export const FRAMING: CaseGroup = {
  title: 'Framing of requests',
  why: 'RFC 9112 §6.1 and §6.3: a message whose end two parsers could see differently is refused, even where a repair is allowed',
  cases: [
    passed('length', post(`${CL}: 3\r\n`, 'abc'), {
      line: 'POST / HTTP/1.1',
      body: 'abc',
      framing: 'length',
    }),
    passed('length zero', post(`${CL}: 0\r\n`, ''), { line: 'POST / HTTP/1.1', body: '' }),
    passed('no framing: no content', post('', ''), { line: 'POST / HTTP/1.1', body: '' }),
    passed('length in any case', post('cOnTeNt-LeNgTh: 3\r\n', 'abc'), {
      line: 'POST / HTTP/1.1',
      body: 'abc',
    }),
    passed('GET with content', `GET / HTTP/1.1\r\n${H}${CL}: 3\r\n\r\nabc`, {
      line: 'GET / HTTP/1.1',
      body: 'abc',
    }),
    passed('DELETE with content', `DELETE / HTTP/1.1\r\n${H}${CL}: 3\r\n\r\nabc`, {
      line: 'DELETE / HTTP/1.1',
      body: 'abc',
    }),
    passed('DELETE with chunks', `DELETE / HTTP/1.1\r\n${H}${TE}: chunked\r\n\r\n3\r\nabc\r\n${ZERO}`, {
      line: 'DELETE / HTTP/1.1',
      body: 'abc',
    }),
    passed(
      'every byte value',
      post(`${CL}: 256\r\n`, Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte)).join('')),
      {
        line: 'POST / HTTP/1.1',
        body: Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte)).join(''),
      },
    ),
    passed(
      'content that looks like a request',
      post(`${CL}: 36\r\n`, 'GET /other HTTP/1.1\r\nHost: a.test\r\n\r\n'.slice(0, 36)),
      { line: 'POST / HTTP/1.1', body: 'GET /other HTTP/1.1\r\nHost: a.test\r\n\r\n'.slice(0, 36) },
    ),
    refused('length and chunks', 400, post(`${CL}: 5\r\n${TE}: chunked\r\n`, ZERO)),
    refused('chunks and length', 400, post(`${TE}: chunked\r\n${CL}: 5\r\n`, ZERO)),
    refused('length zero and chunks', 400, post(`${CL}: 0\r\n${TE}: chunked\r\n`, ZERO)),
    refused('two equal lengths', 400, post(`${CL}: 3\r\n${CL}: 3\r\n`, 'abc')),
    refused('two different lengths', 400, post(`${CL}: 3\r\n${CL}: 4\r\n`, 'abcd')),
    refused('list of equal lengths', 400, post(`${CL}: 3, 3\r\n`, 'abc')),
    refused('list of different lengths', 400, post(`${CL}: 3, 4\r\n`, 'abcd')),
    refused('length with a plus', 400, post(`${CL}: +3\r\n`, 'abc')),
    refused('length with a minus', 400, post(`${CL}: -3\r\n`, 'abc')),
    refused('length in hex', 400, post(`${CL}: 0x3\r\n`, 'abc')),
    refused('length with a fraction', 400, post(`${CL}: 3.0\r\n`, 'abc')),
    refused('length with an underscore', 400, post(`${CL}: 1_0\r\n`, '0123456789')),
    ...(['drop', 'pass'] as const).map((underscores) =>
      passed(
        `a coding in a name with an underscore, underscores: ${underscores}`,
        post(`${CL}: 5\r\nTransfer_Encoding: chunked\r\n`, ZERO),
        { line: 'POST / HTTP/1.1', body: ZERO, framing: 'length', lacks: ['transfer_encoding'] },
        { underscores, why: 'a CGI-like upstream takes `Transfer_Encoding` for `Transfer-Encoding`' },
      ),
    ),
    refused('length with a space inside', 400, post(`${CL}: 1 0\r\n`, '0123456789')),
    refused('empty length', 400, post(`${CL}:\r\n`, '')),
    refused('length that is a word', 400, post(`${CL}: three\r\n`, 'abc')),
    refused('length beyond 2^64', 400, post(`${CL}: 99999999999999999999\r\n`, 'abc')),
    refused('length 2^64 + 3', 400, post(`${CL}: 18446744073709551619\r\n`, 'abc')),
    refused('length folded', 400, post(`${CL}:\r\n 3\r\n`, 'abc')),
    refused('space before the colon of a length', 400, post(`${CL} : 3\r\n`, 'abc')),
    refused('space before the colon of a coding', 400, post(`${TE} : chunked\r\n`, ZERO)),
    refused('NUL in the name of a length', 400, post('Content\0-Length: 3\r\n', 'abc')),
    refused('unknown coding', 400, post(`${TE}: xchunked\r\n`, ZERO)),
    refused('identity', 400, post(`${TE}: identity\r\n`, ZERO)),
    refused('chunked, identity', 400, post(`${TE}: chunked, identity\r\n`, ZERO)),
    refused('chunked twice in one field', 400, post(`${TE}: chunked, chunked\r\n`, ZERO)),
    refused('chunked in two fields', 400, post(`${TE}: chunked\r\n${TE}: chunked\r\n`, ZERO)),
    refused('chunked and another in two fields', 400, post(`${TE}: chunked\r\n${TE}: x\r\n`, ZERO)),
    refused('vertical tab before chunked', 400, post(`${TE}: \x0bchunked\r\n`, ZERO)),
    refused('quoted chunked', 400, post(`${TE}: "chunked"\r\n`, ZERO)),
    refused('chunked with a parameter', 400, post(`${TE}: chunked;q=1\r\n`, ZERO)),
    refused('empty coding', 400, post(`${TE}:\r\n`, ZERO)),
    refused('gzip, chunked', 501, post(`${TE}: gzip, chunked\r\n`, ZERO), 'request.not_implemented'),
    refused('chunked in HTTP/1.0', 400, `POST / HTTP/1.0\r\n${H}${TE}: chunked\r\n\r\n${ZERO}`),
    passed('chunked in capitals', post(`${TE}: CHUNKED\r\n`, `3\r\nabc\r\n${ZERO}`), {
      line: 'POST / HTTP/1.1',
      body: 'abc',
      framing: 'chunked',
    }),
    passed(
      'leading zeros in a length',
      post(`${CL}: 0003\r\n`, 'abc'),
      { line: 'POST / HTTP/1.1', body: 'abc', framing: 'length' },
      { why: 'all digits: RFC 9110 §8.6 allows it; the upstream gets it without zeros' },
    ),
  ],
};
