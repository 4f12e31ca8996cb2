/** Generates almost valid HTTP/1.1 streams from valid ones. */

const CRLF = '\r\n';

// table: requests that are sound, alone and in a row
const REQUESTS: readonly string[] = [
  `GET / HTTP/1.1${CRLF}Host: a${CRLF}${CRLF}`,
  `GET /a/b?c=d HTTP/1.1${CRLF}Host: a.test:80${CRLF}User-Agent: x/1.0 (y; z)${CRLF}Accept: */*${CRLF}Cookie: a=b; c="d"${CRLF}${CRLF}`,
  `HEAD / HTTP/1.0${CRLF}Host: a${CRLF}Connection: keep-alive${CRLF}${CRLF}`,
  `POST /p HTTP/1.1${CRLF}Host: a${CRLF}Content-Length: 5${CRLF}${CRLF}hello`,
  `POST /p HTTP/1.1${CRLF}Host: a${CRLF}Content-Length: 5${CRLF}${CRLF}helloGET /2 HTTP/1.1${CRLF}Host: b${CRLF}${CRLF}`,
  `PUT /c HTTP/1.1${CRLF}Host: a${CRLF}Transfer-Encoding: chunked${CRLF}${CRLF}5${CRLF}hello${CRLF}3;x=y${CRLF}abc${CRLF}0${CRLF}${CRLF}`,
  `POST /t HTTP/1.1${CRLF}Host: a${CRLF}Transfer-Encoding: chunked${CRLF}Trailer: X-T${CRLF}${CRLF}a${CRLF}0123456789${CRLF}0${CRLF}X-T: 1${CRLF}${CRLF}GET /next HTTP/1.1${CRLF}Host: a${CRLF}${CRLF}`,
  `DELETE /d HTTP/1.1${CRLF}Host: a${CRLF}Transfer-Encoding: Chunked${CRLF}${CRLF}1;q="a;b\\"c"${CRLF}x${CRLF}000${CRLF}${CRLF}`,
  `GET /k HTTP/1.1${CRLF}Host: a${CRLF}Connection: close${CRLF}${CRLF}GET /never HTTP/1.1${CRLF}Host: a${CRLF}${CRLF}`,
  `GET http://a.test/abs HTTP/1.1${CRLF}Host: a.test${CRLF}X-Empty:${CRLF}X-Pad: \t v \t ${CRLF}${CRLF}`,
  `OPTIONS * HTTP/1.1${CRLF}Host: a${CRLF}${CRLF}${CRLF}GET /p HTTP/1.1${CRLF}Host: a${CRLF}${CRLF}`,
  `POST /e HTTP/1.1${CRLF}Host: a${CRLF}Expect: 100-continue${CRLF}Content-Length: 0${CRLF}${CRLF}PATCH / HTTP/1.1${CRLF}Host: a${CRLF}Content-Length: 1${CRLF}${CRLF}z`,
];

// table: responses that are sound
const RESPONSES: readonly string[] = [
  `HTTP/1.1 200 OK${CRLF}Content-Length: 2${CRLF}${CRLF}ok`,
  `HTTP/1.1 200 OK${CRLF}Transfer-Encoding: chunked${CRLF}Content-Type: a/b; c=d${CRLF}${CRLF}2${CRLF}ok${CRLF}1;e=f${CRLF}!${CRLF}0${CRLF}${CRLF}`,
  `HTTP/1.1 204 No Content${CRLF}Date: x${CRLF}${CRLF}HTTP/1.1 304 Not Modified${CRLF}ETag: "a"${CRLF}${CRLF}HTTP/1.1 200 ${CRLF}Content-Length: 0${CRLF}${CRLF}`,
  `HTTP/1.1 103 Early Hints${CRLF}Link: </a>${CRLF}${CRLF}HTTP/1.1 200 OK${CRLF}Content-Length: 3${CRLF}${CRLF}abc`,
  `HTTP/1.0 200 OK${CRLF}Server: y${CRLF}${CRLF}until the end`,
  `HTTP/1.1 200 OK${CRLF}Connection: close${CRLF}Content-Length: 4${CRLF}${CRLF}last`,
  `HTTP/1.1 404 Not Found${CRLF}Transfer-Encoding: chunked${CRLF}Trailer: X${CRLF}${CRLF}3${CRLF}abc${CRLF}0${CRLF}X: y${CRLF}${CRLF}`,
  `HTTP/1.1 100 Continue${CRLF}${CRLF}HTTP/1.1 500 Oh${CRLF}Content-Length: 1${CRLF}Keep-Alive: timeout=5${CRLF}${CRLF}x`,
];

// table: what is put in
const PIECES: readonly string[] = [
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  ' ',
  '\t',
  '\0',
  '\x0b',
  '\x7f',
  '\x80',
  '\xff',
  ':',
  ';',
  ',',
  '"',
  '0',
  '1',
  '5',
  'a',
  'F',
  '+',
  '-',
  '0x',
  '\r\n ',
  '\r\n\t',
  'Content-Length: 3\r\n',
  'Content-Length: 5\r\n',
  'content-length:5\r\n',
  'Content-Length: 5, 5\r\n',
  'Content-Length: +5\r\n',
  'Content-Length : 5\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: gzip, chunked\r\n',
  'Transfer-Encoding: chunked, chunked\r\n',
  'Transfer-Encoding: identity\r\n',
  'Transfer-Encoding:\x0bchunked\r\n',
  'Transfer-Encoding : chunked\r\n',
  'transfer-encoding: Chunked \r\n',
  'Connection: close\r\n',
  'Connection: keep-alive, x\r\n',
  'Host: b\r\n',
  'Host:\r\n',
  'X: y\r\n',
  ' X: y\r\n',
  'X y: z\r\n',
  ': z\r\n',
  'Expect: tea\r\n',
  'TE: trailers\r\n',
  '0\r\n\r\n',
  '5\r\nhello\r\n',
  '3;a=b\r\n',
  '3 ;a\r\n',
  '3;\r\n',
  'fffffffffffffffff\r\n',
  'HTTP/1.1',
  'HTTP/1.0',
  'HTTP/0.9',
  'HTTP/2.0',
  'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n',
  'BREW /',
  'get /',
];

/** One stream with at most five faults. */
export function mutated(kind: 'request' | 'response', random: () => number): Buffer {
  const below = (count: number): number => Math.floor(random() * count);
  const pick = <T>(from: readonly T[]): T => from[below(from.length)]!;
  const seeds = kind === 'request' ? REQUESTS : RESPONSES;
  let text = pick(seeds);
  if (random() < 0.15) text += pick(seeds);
  for (let faults = below(6); faults > 0; faults--) {
    // Most faults are at critical places: at the beginning, and around line ends.
    const at = random() < 0.5 ? below(text.length + 1) : nextLine(text, below(text.length + 1));
    const way = random();
    if (way < 0.45) text = text.slice(0, at) + pick(PIECES) + text.slice(at);
    else if (way < 0.65) text = text.slice(0, at) + text.slice(at + 1 + below(3));
    else if (way < 0.85) text = text.slice(0, at) + String.fromCharCode(below(256)) + text.slice(at + 1);
    else if (way < 0.93) text = text.slice(0, at) + text.slice(below(text.length + 1));
    else text = text.replace('\r\n', pick(['\n', '\r', '\r\r\n', '\n\r', '']));
  }
  return Buffer.from(text, 'latin1');
}

function nextLine(text: string, from: number): number {
  const at = text.indexOf('\r\n', from);
  return at < 0 ? from : at + 2;
}

/** Where a stream of this length is split: often nowhere, sometimes everywhere. */
export function cutsOf(length: number, random: () => number): number[] {
  const way = random();
  if (way < 0.3) return [];
  if (way < 0.4) return Array.from({ length: Math.max(0, length - 1) }, (_, index) => index + 1);
  const count = 1 + Math.floor(random() * 4);
  return Array.from({ length: count }, () => Math.floor(random() * (length + 1))).sort((a, b) => a - b);
}
