import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { describe, expect, it } from 'vitest';

import {
  KEPT_VALUE_UNITS,
  KEPT_VERDICTS,
  type UserAgentLists,
  type UserAgentRules,
  compileUserAgents,
  isUserAgentRules,
} from '../../src/filters/user_agent_filter/algorithm.ts';
import { runs, seeded } from '../random.ts';

function compile(lists: Partial<UserAgentLists>): UserAgentRules {
  const rules = compileUserAgents({ allow: [], deny: [], ...lists });
  if (!isUserAgentRules(rules)) throw new Error(rules[0]!.message);
  return rules;
}

const CHROME =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/144.0.0.0 Safari/537.36';

describe('user agents', () => {
  it.each([
    ['no patterns let anyone through', {}, CHROME, { allowed: true, list: 'none', index: -1 }],
    [
      'a denial blocks',
      { deny: ['curl', '(?i)chrome/\\d+'] },
      CHROME,
      { allowed: false, list: 'deny', index: 1 },
    ],
    ['no denial matches', { deny: ['^curl'] }, CHROME, { allowed: true, list: 'none', index: -1 }],
    [
      'allow wins over deny',
      { allow: ['Firefox', 'Chrome'], deny: ['.*'] },
      CHROME,
      { allowed: true, list: 'allow', index: 1 },
    ],
    [
      'an allow list alone blocks no others',
      { allow: ['^Firefox'] },
      CHROME,
      { allowed: true, list: 'none', index: -1 },
    ],
    [
      'the first of several is named',
      { deny: ['Mozilla', 'Chrome', 'Linux'] },
      CHROME,
      { allowed: false, list: 'deny', index: 0 },
    ],
    ['absent is blocked', {}, undefined, { allowed: false, list: 'none', index: -1 }],
    ['empty counts as absent', {}, '', { allowed: false, list: 'none', index: -1 }],
    [
      'absent is blocked whatever deny says',
      { deny: ['^$'] },
      undefined,
      { allowed: false, list: 'none', index: -1 },
    ],
    [
      'absent passes where allow takes the empty string',
      { allow: ['x', '^$'], deny: ['.*'] },
      undefined,
      { allowed: true, list: 'allow', index: 1 },
    ],
  ])('%s', (_, lists, value, expected) => {
    const rules = compile(lists);
    expect(rules.decide(value)).toEqual(expected);
    expect(rules.decide(value)).toEqual(expected);
  });

  it('reports every invalid pattern with its list', () => {
    expect(compileUserAgents({ allow: ['ok', 'a(?=b)'], deny: ['(a)\\1', 'fine', '('] })).toMatchObject([
      { list: 'allow', index: 1, reason: 'look_around' },
      { list: 'deny', index: 0, reason: 'back_reference' },
      { list: 'deny', index: 2, reason: 'syntax' },
    ]);
  });

  it('decides independently of earlier values', () => {
    const random = seeded(8);
    const rules = compile({ allow: ['^good-\\d*[02468]$'], deny: ['[13579]$'] });
    const wrong: string[] = [];
    for (let count = 0; count < runs(100_000, 20_000); count++) {
      // Some values come back all the time, some come twice with many others between, most come once.
      const number = Math.floor(
        random() * (count % 3 === 0 ? 50 : count % 3 === 1 ? KEPT_VERDICTS * 2 : 2 ** 40),
      );
      const kind = random() < 0.5 ? 'good' : 'other';
      const { list } = rules.decide(`${kind}-${number}`);
      const expected = number % 2 === 1 ? 'deny' : kind === 'good' ? 'allow' : 'none';
      if (list !== expected) wrong.push(`${kind}-${number} gave ${list}`);
    }
    expect(wrong).toEqual([]);
    expect(rules.decide('good-2')).toBe(rules.decide('good-2'));
  });

  it('bounds its cache', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const rules = compile({ deny: ['curl'] });
    const feed = (from: number): number => {
      for (let number = from; number < from + 20_000; number++) {
        rules.decide(`${'x'.repeat(500)}${number}`);
        if (number % 10 === 0) rules.decide(`${'y'.repeat(KEPT_VALUE_UNITS)}${number}`);
      }
      collect();
      return process.memoryUsage().heapUsed / 2 ** 20;
    };
    const before = feed(0);
    expect(feed(20_000) - before).toBeLessThan(4);
  });
});
