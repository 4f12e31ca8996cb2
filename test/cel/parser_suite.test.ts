import { fromJson } from '@bufbuild/protobuf';
import { ExprSchema } from '@bufbuild/cel-spec/cel/expr/syntax_pb.js';
import { tests } from '@bufbuild/cel-spec/testdata/parsing.js';
import { KindAdorner, toDebugString } from '@bufbuild/cel-spec/testdata/to-debug-string.js';
import { describe, expect, it } from 'vitest';

import { parse } from '../../src/cel/index.ts';
import { exprOf } from './cel_expr.ts';

/** Cases of cel-go's parser tests that ask for something else than the language, each with its reason. */
const LIMITS = 'the case sets a recursion limit of 32; ours is 250';
const OPTIONAL_OFF = 'the case turns optional syntax off';
const QUOTED_OFF = 'the case turns quoted names off';
const ACCUMULATOR = 'names cel-go’s accumulator, which this engine does not have';

function skipReason(source: string, hasAst: boolean, error: string): string | undefined {
  if (hasAst) return undefined;
  if (/recursion/.test(error) && !/\[\[\[\[/.test(source)) return LIMITS;
  if (/recursion limit exceeded: 32/.test(error)) return LIMITS;
  if (/unsupported syntax: '`'/.test(error) && !source.includes('()')) return QUOTED_OFF;
  if (/unsupported syntax '(\.\?|\[\?|\?)'/.test(error)) return OPTIONAL_OFF;
  return /overwrites accumulator/.test(error) ? ACCUMULATOR : undefined;
}

const cases = (tests.tests ?? []).map((one, index) => ({
  name: `${index}: ${one.original.expr?.slice(0, 60).replaceAll('\n', ' ')}`,
  source: one.original.expr ?? '',
  ast: one.ast,
  skip: skipReason(one.original.expr ?? '', one.ast !== undefined, one.error ?? ''),
}));
const run = cases.filter((one) => one.skip === undefined);
const readable = run.filter((one) => one.ast !== undefined);
const unreadable = run.filter((one) => one.ast === undefined);

describe('parser suite of cel-go', () => {
  it.each(readable.map((one) => [one.name, one.source, one.ast] as const))(
    'reads %s',
    (_name, source, ast) => {
      const parsed = parse(source);
      if ('diagnostic' in parsed) throw new Error(parsed.diagnostic.message);
      const expr = fromJson(ExprSchema, exprOf(parsed.ast.root) as never);
      expect(toDebugString(expr, KindAdorner.singleton)).toBe(ast);
    },
  );

  it.each(unreadable.map((one) => [one.name, one.source] as const))('refuses %s', (_name, source) => {
    expect(parse(source)).toMatchObject({ diagnostic: { code: 'expr.syntax', span: {} } });
  });

  it('skips only cases about options that this parser does not have', () => {
    const skipped = cases.filter((one) => one.skip !== undefined);
    expect(Object.fromEntries(counted(skipped.map((one) => one.skip ?? '')))).toEqual({
      [LIMITS]: 9,
      [OPTIONAL_OFF]: 8,
      [QUOTED_OFF]: 11,
      [ACCUMULATOR]: 3,
    });
  });
});

function counted(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}
