/**
 * Errors that any kind of file can have; each kind prefixes these codes with its name (`edge.syntax`,
 * `scenario.syntax`).
 */

/** Found while parsing the text. */
export type ReadingCode =
  | 'empty'
  | 'not_a_map'
  | 'too_large'
  | 'too_deep'
  | 'several_documents'
  | 'syntax'
  | 'tab_indent'
  | 'unknown_tag'
  | 'unknown_alias'
  | 'alias_limit'
  | 'duplicate_key'
  | 'bad_key';

/** Found while validating a value against its shape. */
export type ShapeCode =
  | 'unknown_key'
  | 'missing_key'
  | 'wrong_type'
  | 'unknown_value'
  | 'out_of_range'
  | 'too_long'
  | 'empty_value'
  | 'bad_form'
  | 'bad_name';
