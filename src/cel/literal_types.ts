import { BOOL, BYTES, DOUBLE, INT, NULL, STRING, UINT } from './types.ts';
import type { Type } from './types.ts';
import { Double, Uint } from './values.ts';
import type { Value } from './values.ts';

/** The type of a literal from the lexer. */
export function typeOfLiteral(value: Value): Type {
  if (typeof value === 'string') return STRING;
  if (typeof value === 'boolean') return BOOL;
  if (typeof value === 'number' || typeof value === 'bigint') return INT;
  if (value instanceof Double) return DOUBLE;
  if (value instanceof Uint) return UINT;
  return value === null ? NULL : BYTES;
}
