import { keysOfMap } from '../equality.ts';
import { type FunctionRow, func, overload } from '../function_table.ts';
import { BOOL, optional, parameter } from '../types.ts';
import { type Value, Double, Duration, fail, isMap, NONE, Optional, Timestamp, Uint } from '../values.ts';

/** Whether a value is the zero value of its type: 0, false, '', [], {}, null, zero duration, the epoch. */
function isZero(value: Value): boolean {
  if (typeof value !== 'object') return value === 0 || value === false || value === '';
  if (value === null) return true;
  if (value instanceof Double || value instanceof Uint) return value.value === 0;
  if (Array.isArray(value) || value instanceof Uint8Array) return (value as { length: number }).length === 0;
  if (value instanceof Duration || value instanceof Timestamp)
    return value.seconds === 0 && value.nanos === 0;
  if (value instanceof Optional) return value.value === undefined;
  return isMap(value) && keysOfMap(value).length === 0;
}

const T = parameter('T');

/** Optional values. `.?field`, `[?index]`, `[?element]` and `{?key: value}` are syntax. */
export const OPTIONALS: readonly FunctionRow[] = [
  func('optional.of', 'An optional with a value.', 'optional.of(1).hasValue()', [
    overload({
      id: 'optional_of',
      style: 'global',
      params: [T],
      result: optional(T),
      call: (value) => new Optional(value),
    }),
  ]),
  func(
    'optional.ofNonZeroValue',
    'An optional that is empty for the zero value of its type.',
    "!optional.ofNonZeroValue('').hasValue()",
    [
      overload({
        id: 'optional_of_non_zero_value',
        style: 'global',
        params: [T],
        result: optional(T),
        call: (value) => (isZero(value) ? NONE : new Optional(value)),
      }),
    ],
  ),
  func('optional.none', 'The empty optional.', '!optional.none().hasValue()', [
    overload({ id: 'optional_none', style: 'global', params: [], result: optional(T), call: () => NONE }),
  ]),
  func('hasValue', 'Whether the optional has a value.', 'optional.of(1).hasValue()', [
    overload({
      id: 'optional_has_value',
      style: 'method',
      params: [optional(T)],
      result: BOOL,
      call: (held) => held.value !== undefined,
    }),
  ]),
  func('value', 'The value of the optional; an error if it is empty.', 'optional.of(1).value() == 1', [
    overload({
      id: 'optional_value',
      style: 'method',
      params: [optional(T)],
      result: T,
      call: (held) => (held.value === undefined ? fail('expr.absent', 'the optional is empty') : held.value),
    }),
  ]),
];
