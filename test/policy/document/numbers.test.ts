import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { testsByNumber } from '../../../docs/code_tests.ts';
import { brandingOf } from '../../../src/engine/branding.ts';
import { ENGINE_REASONS } from '../../../src/engine/refusals.ts';
import { FAILURES } from '../../../src/filters/failure.ts';
import { FILTERS } from '../../../src/filters/table.ts';
import { findCode } from '../../../src/policy/codes/page.ts';
import { RUNTIME_CODES } from '../../../src/policy/codes/runtime_codes.ts';

/** Every number of the public index of errors about policies, their actions or their responses. */
const PUBLIC = [
  ...range(2200, 2219),
  ...range(2221, 2250),
  ...range(2251, 2267),
  2300,
  ...range(3202, 3206),
  3211,
  3401,
  3403,
  3406,
  3408,
  ...range(3411, 3416),
  3422,
  3501,
  ...range(3601, 3604),
  ...range(3700, 3702),
  ...range(3800, 3819),
  ...range(3900, 3905),
  385,
  386,
  393,
  5537,
  6029,
  18002,
];

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** Error numbers that the source of these rooms writes where it sends them. */
function writtenIn(rooms: readonly string[]): number[] {
  const root = new URL('../../../src/', import.meta.url);
  const files = rooms.flatMap((room) =>
    readdirSync(new URL(room, root), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.startsWith('document/') && !file.startsWith('codes/'))
      .map((file) => readFileSync(new URL(room + file, root), 'utf8')),
  );
  const patterns = [/\brefusal\(\s*\d{3},\s*(\d+),/g, /\bstatus: \d{3}, number: (\d+)/g];
  return files.flatMap((text) =>
    patterns.flatMap((pattern) => Array.from(text.matchAll(pattern), ([, number]) => Number(number))),
  );
}

/** Error numbers of running policies and of filters. */
function sentNumbers(): number[] {
  const own = FILTERS.flatMap(({ numbers = {} }) => Object.values(numbers).map(({ number }) => number));
  return [...new Set([...writtenIn(['policy/']), ...own, ...Object.values(FAILURES)])];
}

const branding = brandingOf('service');
const engine: ReadonlySet<number> = new Set(
  Object.values(ENGINE_REASONS).flatMap(({ code }) => (code === null ? [] : [code])),
);

describe('the index of numbers', () => {
  test.each(PUBLIC)('%i is explained', (number) => {
    expect(findCode(String(number), branding).kind).toMatch(/^(?:document|runtime|service)$/);
  });

  it('has every number that is sent as one that is', () => {
    const sent = sentNumbers();
    expect(sent).toEqual(expect.arrayContaining([3202, 3203, 3204, 3401, 3422, 2254]));
    const others = sent.filter((number) => !engine.has(number));
    expect(
      others.filter((number) => !['runtime', 'document'].includes(findCode(String(number), branding).kind)),
    ).toEqual([]);
  });

  it('has the numbers of filters from their facts, which alone know them', () => {
    expect(writtenIn(['policy/'])).not.toEqual([]);
    expect(writtenIn(['filters/', 'webhooks/', 'auth/'])).toEqual([]);
  });

  it('has a test for every number that is sent', () => {
    const tests = testsByNumber();
    expect(RUNTIME_CODES.map(({ number }) => number).filter((number) => !tests.has(number))).toEqual([]);
  });
});
