import { type CaseGroup, passed, unserved } from '../case.ts';

const ask = (...lines: readonly string[]): string =>
  `GET / HTTP/1.1\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
const LINE = { line: 'GET / HTTP/1.1' };
const bad = (name: string, ...lines: readonly string[]) =>
  unserved(name, 400, ask(...lines), 'request.malformed');

/** Host. */
// table: cases
export const HOSTS: CaseGroup = {
  title: 'Host',
  why: 'RFC 9112 §3.2: exactly one valid Host, or 400',
  cases: [
    passed('in capitals', ask('HOST: A.TEST'), LINE),
    passed('with a port', ask('Host: a.test:443'), LINE),
    passed('after other fields', ask('X: 1', 'Host: a.test'), { ...LINE, has: ['host: a.test', 'x: 1'] }),
    bad('none', 'X: a'),
    bad('two', 'Host: a.test', 'Host: b.test'),
    bad('two equal', 'Host: a.test', 'Host: a.test'),
    bad('a list', 'Host: a.test, b.test'),
    bad('with user info', 'Host: u@a.test'),
    bad('with a space', 'Host: a.test b'),
    bad('with a path', 'Host: a.test/x'),
    bad('with an invalid port', 'Host: a.test:b'),
    bad('with a port too large', 'Host: a.test:65536'),
    bad('with a query', 'Host: a.test?x'),
    unserved('empty', 404, ask('Host:'), 'route.unknown_host', {
      why: 'RFC 9112 §3.2 allows an empty one; no edge has it',
    }),
    unserved('of an unknown host', 404, ask('Host: b.test'), 'route.unknown_host', { after: 'open' }),
  ],
};
