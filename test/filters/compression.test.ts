import { describe, expect, it } from 'vitest';

import {
  type Algorithm,
  compressionPlan,
  negotiate,
  negotiator,
} from '../../src/filters/compression/algorithm.ts';
import { runs, seeded } from '../random.ts';

const BOTH: readonly Algorithm[] = ['gzip', 'deflate'];

describe('negotiating a coding', () => {
  it.each([
    [undefined, null],
    ['', null],
    ['gzip, deflate, br, zstd', 'gzip'],
    ['deflate, gzip', 'gzip'],
    ['deflate', 'deflate'],
    ['br', null],
    ['gzip;q=0.5, deflate;q=0.8', 'deflate'],
    ['gzip;q=0.8, deflate;q=0.8', 'gzip'],
    ['gzip;q=0', null],
    ['gzip;q=0.000', null],
    ['gzip;q=0.001', 'gzip'],
    ['gzip;q=0, deflate', 'deflate'],
    ['*', 'gzip'],
    ['*;q=0', null],
    ['gzip;q=0, *', 'deflate'],
    ['gzip;q=0.1, *;q=0.2', 'deflate'],
    ['deflate, *;q=0', 'deflate'],
    ['identity', null],
    ['identity, *;q=0', null],
    ['identity;q=0', null],
    ['identity;q=0, gzip', 'gzip'],
    ['identity;q=0.9, gzip;q=0.5', null],
    ['identity;q=0.5, gzip;q=0.5', 'gzip'],
    ['identity;q=0.5, gzip;q=0.4, deflate;q=0.6', 'deflate'],
    ['x-gzip', 'gzip'],
    ['GZip;Q=0.5', 'gzip'],
    ['gzip ; q=0.5 ,\tdeflate ;\tq=0.6', 'deflate'],
    [',, gzip ,', 'gzip'],
    ['gzip;q=0, gzip', null],
    // What breaks the grammar does not consent.
    ['gzip;q=2', null],
    ['gzip;q=-1', null],
    ['gzip;q=0.1234', null],
    ['gzip;q=', null],
    ['gzip;q=1.001', null],
    ['gzip;level=9', null],
    ['gzip deflate', null],
    ['gzip;q=x, deflate', 'deflate'],
    ['gzipped', null],
  ])('%j gives %s', (header, expected) => {
    expect(negotiate(header, BOTH)).toBe(expected);
    expect(negotiator(BOTH)(header)).toBe(expected);
  });

  it('chooses only offered codings', () => {
    expect(negotiate('gzip, deflate;q=0.1', ['deflate'])).toBe('deflate');
    expect(negotiate('gzip', ['deflate'])).toBeNull();
    expect(negotiate('*', [])).toBeNull();
  });

  it('returns the same from its cache', () => {
    const random = seeded(13);
    const remembered = negotiator(BOTH);
    const wrong: string[] = [];
    for (let count = 0; count < runs(20_000, 5_000); count++) {
      const q = Math.floor(random() * (count % 2 === 0 ? 5 : 1_000)) / 1_000;
      const header = `gzip;q=${q}, deflate;q=0.002${random() < 0.01 ? ', x'.repeat(200) : ''}`;
      if (remembered(header) !== negotiate(header, BOTH)) wrong.push(header);
    }
    expect(wrong).toEqual([]);
  });
});

const asks = (acceptEncoding: string, more: readonly string[] = []) => ({
  method: 'GET',
  headers: ['accept-encoding', acceptEncoding, ...more],
});

describe('the plan for a response', () => {
  it('compresses and sets the fields', () => {
    const headers = [
      'Content-Type',
      'text/html',
      'Content-Length',
      '1234',
      'Accept-Ranges',
      'bytes',
      'ETag',
      '"abc"',
    ];
    expect(compressionPlan(asks('gzip'), { status: 200, headers })).toEqual({
      compress: 'gzip',
      reason: 'compressed',
      flush: false,
      remove: ['content-length', 'accept-ranges', 'etag'],
      add: [
        ['content-encoding', 'gzip'],
        ['vary', 'Accept-Encoding'],
        ['etag', 'W/"abc"'],
      ],
    });
  });

  it('reads all lines of Accept-Encoding', () => {
    const request = asks('deflate;q=0.5', ['x', 'y', 'Accept-Encoding', 'gzip']);
    expect(compressionPlan(request, { status: 200, headers: [] }).compress).toBe('gzip');
  });

  it('removes digests of the uncompressed bytes', () => {
    const headers = ['Repr-Digest', 'a', 'content-digest', 'b', 'Digest', 'c', 'content-md5', 'd'];
    expect(compressionPlan(asks('gzip'), { status: 200, headers }).remove).toEqual([
      'repr-digest',
      'content-digest',
      'digest',
      'content-md5',
    ]);
  });

  it.each([
    [[], [], [['vary', 'Accept-Encoding']]],
    [['Vary', 'Origin'], ['vary'], [['vary', 'Origin, Accept-Encoding']]],
    [['Vary', 'Origin', 'vary', 'Cookie'], ['vary'], [['vary', 'Origin, Cookie, Accept-Encoding']]],
    [['Vary', 'origin, ACCEPT-ENCODING'], [], []],
    [['Vary', '*'], [], []],
  ])('merges Vary, compressed or not: %j', (headers, remove, add) => {
    expect(compressionPlan(asks('br'), { status: 200, headers })).toEqual({
      compress: null,
      reason: 'not_wanted',
      flush: false,
      remove,
      add,
    });
    expect(compressionPlan(asks('gzip'), { status: 200, headers })).toMatchObject({
      compress: 'gzip',
      remove,
      add: [['content-encoding', 'gzip'], ...add],
    });
  });

  it('keeps a weak validator', () => {
    const plan = compressionPlan(asks('gzip'), { status: 200, headers: ['etag', 'W/"abc"'] });
    expect(plan.remove).toEqual([]);
    expect(plan.add).not.toContainEqual(['etag', expect.anything()]);
  });

  it.each([
    ['text/event-stream', true],
    ['Text/Event-Stream; charset=utf-8', true],
    ['text/event-stream-x', false],
    ['text/plain', false],
  ])('flushes chunks of %s: %s', (type, flush) => {
    const headers = ['Content-Type', type];
    expect(compressionPlan(asks('gzip'), { status: 200, headers })).toMatchObject({
      compress: 'gzip',
      flush,
    });
  });

  it.each([
    ['HEAD', 200, [], 'no_body'],
    ['GET', 101, [], 'no_body'],
    ['GET', 204, [], 'no_body'],
    ['GET', 205, [], 'no_body'],
    ['GET', 304, [], 'no_body'],
    ['GET', 200, ['Content-Length', '0'], 'no_body'],
    ['GET', 206, ['Content-Range', 'bytes 0-1/2'], 'partial'],
    ['GET', 200, ['Content-Encoding', 'br'], 'already_encoded'],
    ['GET', 200, ['content-encoding', 'identity'], 'already_encoded'],
    ['GET', 200, ['Cache-Control', 'private, No-Transform'], 'no_transform'],
  ])('does not change %s %i with %j', (method, status, headers, reason) => {
    expect(compressionPlan({ ...asks('gzip'), method }, { status, headers })).toEqual({
      compress: null,
      reason,
      flush: false,
      remove: [],
      add: [],
    });
  });

  it('names a field to be removed once, however often an upstream sends it', () => {
    const headers = Array.from({ length: 20_000 }, (_, at) => (at % 2 === 0 ? 'Digest' : 'x'));
    expect(compressionPlan(asks('gzip'), { status: 200, headers }).remove).toEqual(['digest']);
  });

  it('respects no-transform of the client', () => {
    const request = asks('gzip', ['cache-control', 'no-transform']);
    expect(compressionPlan(request, { status: 200, headers: [] }).reason).toBe('no_transform');
  });

  it('compresses errors and responses to other methods', () => {
    expect(compressionPlan({ ...asks('gzip'), method: 'POST' }, { status: 500, headers: [] }).compress).toBe(
      'gzip',
    );
  });
});
