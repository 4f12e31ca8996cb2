import { expect, test } from 'vitest';
import { isTrailer, passedTrailers } from '../../src/http/trailers.ts';

// table: RFC 9110 §6.5.1 and what is like it
const NEVER =
  'transfer-encoding content-length host cache-control expect max-forwards pragma range te if-match if-none-match if-modified-since authorization cookie set-cookie proxy-authenticate www-authenticate age expires date location retry-after vary content-encoding content-type content-range trailer connection upgrade x-forwarded-for x-forwarded-host forwarded access-control-allow-origin strict-transport-security service-auth-user-id service-mtls-subject-cn set_cookie content_type x_forwarded_for :status';

test.each(NEVER.split(' '))('%s is not allowed as a trailer', (name) => {
  expect(isTrailer(name)).toBe(false);
});

test.each(['grpc-status', 'grpc-message', 'etag', 'digest', 'server-timing', 'x-checksum'])(
  '%s is allowed',
  (name) => {
    expect(isTrailer(name)).toBe(true);
  },
);

test('names are case-insensitive, and allowed ones keep their spelling', () => {
  expect(passedTrailers(['SET-Cookie', 'a', 'X-Sum', '1', 'X-Sum', '2'])).toEqual([
    'X-Sum',
    '1',
    'X-Sum',
    '2',
  ]);
});
