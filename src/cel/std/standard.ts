import { type FunctionTable, functionTable } from '../function_table.ts';
import { ARITHMETIC } from './arithmetic.ts';
import { COMPARISON } from './comparison.ts';
import { CONVERSIONS } from './conversions.ts';
import { ENCODERS } from './encoders.ts';
import { MACROS } from './macros.ts';
import { MATH } from './math.ts';
import { OPTIONALS } from './optionals.ts';
import { STRING_EXTENSION } from './string_extension.ts';
import { STRINGS } from './strings.ts';
import { TIME } from './time.ts';

/** The language: CEL's standard library, macros, optionals, and the strings, math and encoders extensions. */
export const STANDARD: FunctionTable = functionTable(
  MACROS,
  ARITHMETIC,
  COMPARISON,
  CONVERSIONS,
  STRINGS,
  TIME,
  OPTIONALS,
  STRING_EXTENSION,
  MATH,
  ENCODERS,
);
