import { PROGRAM_LIMIT_INSTRUCTIONS, compilePattern, isPatternProblem } from '../../regex/pattern.ts';
import type { Pattern } from '../../regex/pattern.ts';
import { type FunctionRow, type Overload, type Specialised, func, overload } from '../function_table.ts';
import { quickTest } from './quick_pattern.ts';
import { CHARACTERS_PER_UNIT, STEPS_PER_UNIT, UNITS_PER_COMPILED_INSTRUCTION } from '../limits.ts';
import { sizeOfMap } from '../equality.ts';
import { sizeOfText } from '../text.ts';
import { type Type, BOOL, BYTES, DYN, INT, list, map, STRING } from '../types.ts';
import { type EvalError, type MapValue, type Value, fail } from '../values.ts';

type Test = (text: string, part: string) => boolean;

function textTest(id: string, call: Test, withPart: (part: string) => (text: string) => boolean): Overload {
  return overload({
    id,
    style: 'method',
    params: [STRING, STRING],
    result: BOOL,
    call,
    cost: (_text, part) => part.length / CHARACTERS_PER_UNIT,
    specialise: ([text, part]) => {
      if (typeof part === 'string') return { call: withPart(part) as never };
      return typeof text === 'string' ? { call: ((value: string) => call(text, value)) as never } : undefined;
    },
  });
}

/** Searching traverses the text; testing a prefix or suffix does not. */
function walking(row: Overload): Overload {
  return { ...row, cost: (text) => (text as string).length / CHARACTERS_PER_UNIT };
}

function size<T>(id: string, type: Type & { readonly carries?: T }, call: (value: T) => number): Overload {
  return { id, style: 'both', params: [type], result: INT, pure: true, call: call as never };
}

/** Strings, bytes and containers of the standard definitions. */
export const STRINGS: readonly FunctionRow[] = [
  func('size', 'Number of code points, bytes, elements or entries.', "size('né') == 2", [
    walking(size('size_string', STRING, sizeOfText)),
    size('size_list', list(DYN), (value: readonly Value[]) => value.length),
    size('size_map', map(DYN, DYN), (value: MapValue) => sizeOfMap(value)),
    size('size_bytes', BYTES, (value) => value.length),
  ]),
  func('startsWith', 'Whether the string begins with another.', "'/api/v1'.startsWith('/api/')", [
    textTest(
      'starts_with_string',
      (text, part) => text.startsWith(part),
      (part) => (text) => text.startsWith(part),
    ),
  ]),
  func('endsWith', 'Whether the string ends with another.', "'a.png'.endsWith('.png')", [
    textTest(
      'ends_with_string',
      (text, part) => text.endsWith(part),
      (part) => (text) => text.endsWith(part),
    ),
  ]),
  func('contains', 'Whether the string contains another.', "'bingbot/2.0'.contains('bot')", [
    walking(
      textTest(
        'contains_string',
        (text, part) => text.includes(part),
        (part) => (text) => text.includes(part),
      ),
    ),
  ]),
  func('matches', 'Whether an RE2 pattern occurs anywhere in the string.', "'v12'.matches('^v[0-9]+$')", [
    overload({
      id: 'matches_string',
      style: 'both',
      params: [STRING, STRING],
      result: BOOL,
      cost: (text, pattern) => 100 + pattern.length * 16 + compiledCost(text, pattern),
      call: (text, source) => {
        const pattern = patternOf(source);
        return 'test' in pattern ? pattern.test(text) : pattern;
      },
      specialise: matchesConstant,
    }),
  ]),
];

/**
 * Units for a pattern that is not constant: compiling it and, at worst, a step for each instruction at each character.
 * They are the same whether or not the pattern is known from before. One that is refused was still compiled in part.
 */
function compiledCost(text: string, source: string): number {
  const pattern = compilePattern(source);
  if (isPatternProblem(pattern)) {
    const isLarge = pattern.reason === 'too_large';
    return (isLarge ? PROGRAM_LIMIT_INSTRUCTIONS : source.length) * UNITS_PER_COMPILED_INSTRUCTION;
  }
  const { programInstructions } = pattern;
  return programInstructions * (UNITS_PER_COMPILED_INSTRUCTION + text.length / STEPS_PER_UNIT);
}

function patternOf(source: string): Pattern | EvalError {
  const pattern = compilePattern(source);
  return isPatternProblem(pattern) ? fail('expr.invalid_pattern', pattern.message) : pattern;
}

function matchesConstant([, source]: readonly (Value | undefined)[]): Specialised<unknown> | undefined {
  if (typeof source !== 'string') return undefined;
  const pattern = compilePattern(source);
  if (isPatternProblem(pattern)) {
    return { problem: { code: 'expr.invalid_pattern', message: pattern.message, argument: 1 } };
  }
  const quick = quickTest(pattern);
  if (quick !== undefined) return { call: quick as never };
  const unitsPerCharacter = pattern.programInstructions / STEPS_PER_UNIT;
  return {
    call: ((text: string) => pattern.test(text)) as never,
    cost: (text) => (text as string).length * unitsPerCharacter,
  };
}
