/** Codes of the expression engine in policies, with one sentence each. */
// table: codes and their sentences
export const EXPRESSION_CODES: Readonly<Record<string, string>> = {
  'expr.absent': 'An optional value is absent. Test it with has(…) first.',
  'expr.budget_exceeded': 'The expression exceeds the cost limit of one evaluation.',
  'expr.constant_condition':
    'The condition does not depend on the request: it is always true or always false.',
  'expr.divide_by_zero': 'Division by zero.',
  'expr.duplicate_key': 'A map has a duplicate key.',
  'expr.exact_membership':
    "`in` compares whole values: 'bot' in a header is true only for a header with exactly that value. Use exists and contains to search inside.",
  'expr.foreign_template':
    'A reference is written as in another template language, and stays as it is: `${req.host}` is replaced by its value.',
  'expr.impossible_text':
    'A variable is compared with a text that it never has, so the comparison has one outcome.',
  'expr.index_out_of_range': 'The index is beyond the end of the list.',
  'expr.internal': 'The engine met an unexpected state. Please report it.',
  'expr.invalid_argument': 'A function cannot work with the given value.',
  'expr.invalid_cidr': 'An address range is invalid: inCidrRange is always false for it.',
  'expr.invalid_pattern': 'The pattern does not have RE2 syntax.',
  'expr.legacy_spelling': 'A former spelling of a name, such as one with a leading dot.',
  'expr.limit_exceeded': 'A string, a list or the nesting exceeds its limit.',
  'expr.list_against_string':
    'A list, such as the values of a header, is compared with a string and is never equal to it.',
  'expr.may_be_missing':
    "Reading a header that may be absent is an error if it is absent. Test it with `in` first, or use getReqHeader('name').",
  'expr.never_equal': 'Two values of different types are compared and are never equal.',
  'expr.no_messages': 'Protocol buffer messages are not supported in policies.',
  'expr.no_such_field': 'The value has no field of this name.',
  'expr.no_such_key': 'The map has no such key.',
  'expr.no_such_overload': 'The function or operator does not accept these types.',
  'expr.not_bool': 'A condition must be a bool.',
  'expr.overflow': 'A number does not fit into 64 bits.',
  'expr.syntax': 'The text is not an expression.',
  'expr.template': 'The braces of a template are unbalanced: `${` needs `}`, and an expression between them.',
  'expr.too_long': 'The expression exceeds the maximum length.',
  'expr.unavailable': 'The name exists, but in another phase.',
  'expr.unknown_function': 'The function does not exist.',
  'expr.unknown_variable': 'The variable does not exist.',
  'expr.wrong_type': 'The expression has another type than its place requires.',
};
