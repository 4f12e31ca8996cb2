/** Findings of the expression engine that a policy can meet, one sentence each. */
// table: codes and their sentences
export const EXPRESSION_CODES: Readonly<Record<string, string>> = {
  'expr.absent': 'A value that need not be there is not there. Test it with has(…) first.',
  'expr.budget_exceeded': 'The expression takes more steps than one evaluation may.',
  'expr.constant_condition':
    'The condition does not depend on the request: it is always true or always false.',
  'expr.divide_by_zero': 'A number is divided by zero.',
  'expr.duplicate_key': 'A key stands in a map twice.',
  'expr.exact_membership':
    "`in` compares whole values: 'bot' in a header is true only for a header that is exactly that. Use exists and contains to search inside.",
  'expr.index_out_of_range': 'A list is shorter than the index asks for.',
  'expr.internal': 'The engine met something that it should not. Please report it.',
  'expr.invalid_argument': 'A function was given a value that it cannot work with.',
  'expr.invalid_cidr': 'A range of addresses is not one: inCidrRange is always false for it.',
  'expr.invalid_pattern': 'The pattern is not of RE2 syntax.',
  'expr.legacy_spelling': 'An older spelling of a name, such as one with a leading dot.',
  'expr.limit_exceeded': 'A text, a list or the nesting is larger than it may be.',
  'expr.list_against_string':
    'A list, such as the values of a header, is compared with a text and is never equal to it.',
  'expr.may_be_missing':
    "Looking up a header that a request need not have is an error when it is not there. Test it with `in` first, or use getReqHeader('name').",
  'expr.never_equal': 'Two values of different types are compared and are never equal.',
  'expr.no_messages': 'Messages of protocol buffers are not part of policies.',
  'expr.no_such_field': 'The value has no field of this name.',
  'expr.no_such_key': 'The map has no such key.',
  'expr.no_such_overload': 'The function or operator does not take values of these types.',
  'expr.not_bool': 'A condition has to be true or false.',
  'expr.overflow': 'A number is larger than 64 bits hold.',
  'expr.syntax': 'The text is not an expression.',
  'expr.template':
    'The braces of a template are not in order: `${` needs `}`, and an expression between them.',
  'expr.too_long': 'The expression is longer than expressions may be.',
  'expr.unavailable': 'The name exists, but in another phase.',
  'expr.unknown_function': 'There is no function of this name.',
  'expr.unknown_variable': 'There is no variable of this name.',
  'expr.wrong_type': 'The expression gives a value of another type than its place needs.',
};
