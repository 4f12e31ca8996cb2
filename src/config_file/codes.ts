/**
 * Errors that any kind of file can have; each kind prefixes these codes with its name (`edge.syntax`,
 * `scenario.syntax`).
 */

/** Found while parsing the text. */
const READING_CODES = [
  'empty',
  'not_a_map',
  'other_file',
  'too_large',
  'not_text',
  'too_deep',
  'several_documents',
  'syntax',
  'tab_indent',
  'unknown_tag',
  'unknown_alias',
  'alias_limit',
  'duplicate_key',
  'bad_key',
] as const;

export type ReadingCode = (typeof READING_CODES)[number];

/** Found while validating a value against its shape. */
const SHAPE_CODES = [
  'unknown_key',
  'missing_key',
  'wrong_type',
  'unknown_value',
  'out_of_range',
  'too_long',
  'empty_value',
  'bad_form',
  'bad_name',
] as const;

export type ShapeCode = (typeof SHAPE_CODES)[number];

/** Both. */
export const FILE_CODES = [...READING_CODES, ...SHAPE_CODES] as const;
