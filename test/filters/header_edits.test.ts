import { describe, expect, it } from 'vitest';

import { applyHeaderEdits, headersEdit } from '../../src/engine/edits.ts';
import { headerEditProblems } from '../../src/filters/header_edits/algorithm.ts';

function edit(
  fields: readonly string[],
  add: readonly (readonly [string, string])[],
  remove: readonly string[],
): unknown {
  return applyHeaderEdits(fields, [headersEdit('request', remove, add.flat())], 'request');
}

describe('header edits', () => {
  const fields = ['Host', 'shop.test', 'X-A', '1', 'x-b', '2', 'x-a', '3'];

  it('removes all values of a name in any letter case', () => {
    expect(edit(fields, [], ['x-A', 'x-none'])).toEqual(['Host', 'shop.test', 'x-b', '2']);
  });

  it('appends to existing values, with lower-case names', () => {
    expect(edit(fields, [['X-B', '4']], [])).toEqual([...fields, 'x-b', '4']);
  });

  it('removes before adding, so that a name in both lists is replaced', () => {
    expect(edit(fields, [['X-A', 'new']], ['x-a'])).toEqual(['Host', 'shop.test', 'x-b', '2', 'x-a', 'new']);
  });

  it('replaces Host, which occurs once', () => {
    expect(edit(['host', 'a', 'HOST', 'b', 'x', 'y'], [['Host', 'new.test:8080']], [])).toEqual([
      'x',
      'y',
      'host',
      'new.test:8080',
    ]);
  });

  it('returns the same list if nothing changes', () => {
    expect(edit(fields, [], [])).toEqual(fields);
    expect(fields).toHaveLength(8);
  });
});

const reasons = (
  side: 'request' | 'response',
  add: readonly (readonly [string, string])[],
  remove: readonly string[],
): string[] =>
  headerEditProblems({ add, remove }, side).map(({ where, name, reason }) => `${where} ${name} ${reason}`);

describe('header edits are refused', () => {
  it.each([
    ['Content-Length', 'framing'],
    ['transfer-encoding', 'framing'],
    ['Connection', 'hop_by_hop'],
    ['keep-alive', 'hop_by_hop'],
    ['TE', 'hop_by_hop'],
    ['trailer', 'hop_by_hop'],
    ['Upgrade', 'hop_by_hop'],
    ['proxy-connection', 'hop_by_hop'],
    ['Proxy-Authenticate', 'hop_by_hop'],
    ['proxy-authorization', 'hop_by_hop'],
    ['User-Agent', 'user_agent'],
    ['', 'invalid_name'],
    ['x y', 'invalid_name'],
    ['x:', 'invalid_name'],
    ['x\r\ny', 'invalid_name'],
    ['é', 'invalid_name'],
  ])('%j: %s', (name, reason) => {
    for (const side of ['request', 'response'] as const) {
      expect(reasons(side, [[name, 'v']], [name])).toEqual([
        `add ${name} ${reason}`,
        `remove ${name} ${reason}`,
      ]);
    }
  });

  it.each(['a\r\nx: y', 'a\nb', 'a\rb', 'a\u0000b', 'a\u007fb', '\u20ac'])('for the value %j', (value) => {
    expect(reasons('response', [['x-a', value]], [])).toEqual(['add x-a invalid_value']);
  });

  it('if Host would be missing or invalid', () => {
    expect(reasons('request', [], ['Host'])).toEqual(['remove Host host_removed']);
    expect(reasons('request', [['host', 'new.test']], ['Host'])).toEqual([]);
    expect(reasons('response', [], ['Host'])).toEqual([]);
    expect(reasons('request', [['host', 'a/b']], [])).toEqual(['add host invalid_value']);
    expect(reasons('request', [['host', 'user@a']], [])).toEqual(['add host invalid_value']);
    expect(reasons('request', [['host', '[::1]:80']], [])).toEqual([]);
  });

  it('if a name is added twice', () => {
    expect(
      reasons(
        'request',
        [
          ['x-a', '1'],
          ['X-A', '2'],
        ],
        ['x-b', 'X-B'],
      ),
    ).toEqual(['add X-A duplicate']);
  });

  it('but all other edits are accepted', () => {
    expect(
      reasons(
        'request',
        [
          ['x-a', 'caf\u00e9 \t"quoted"'],
          ['cookie', ''],
          ['x-forwarded-for', '1'],
        ],
        ['accept', 'x-none'],
      ),
    ).toEqual([]);
  });
});

it('different edits of a list are independent and do not change it', () => {
  const fields = ['a', '1', 'b', '2'];
  const first = [headersEdit('request', ['a'], [])];
  const second = [headersEdit('request', [], ['c', '3']), headersEdit('response', ['b'], [])];
  for (let turn = 0; turn < 4; turn++) {
    expect(applyHeaderEdits(fields, first, 'request')).toEqual(['b', '2']);
    expect(applyHeaderEdits(fields, second, 'request')).toEqual(['a', '1', 'b', '2', 'c', '3']);
    expect(applyHeaderEdits(fields, second, 'response')).toEqual(['a', '1']);
    expect(applyHeaderEdits(fields, [], 'response')).toBe(fields);
  }
  expect(fields).toEqual(['a', '1', 'b', '2']);
});
