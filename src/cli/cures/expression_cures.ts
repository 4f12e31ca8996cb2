import type { Cures } from './cure.ts';

/** Cures of what expressions can have. */
// table: examples and cures of codes
export const EXPRESSION_CURES: Cures = {
  'expr.absent': [
    "`conn.geo.city == 'Berlin'` for an address without facts",
    'Write has(conn.geo.city) && … before it',
  ],
  'expr.budget_exceeded': [
    'Nested loops over a body of a megabyte',
    'Test something cheap first, or search a smaller part',
  ],
  'expr.constant_condition': ['`1 == 1`', 'Compare something of the request, or leave the expression out'],
  'expr.divide_by_zero': ['`10 / (size(x) - size(x))`', 'Test the divisor first'],
  'expr.duplicate_key': ["`{'a': 1, 'a': 2}`", 'Remove one of the keys'],
  'expr.exact_membership': [
    "`'bot' in req.headers['user-agent']`",
    "Search inside: req.headers['user-agent'].exists(value, value.contains('bot'))",
  ],
  'expr.foreign_template': ['`{{ req.host }}`', 'Write ${req.host}'],
  'expr.impossible_text': [
    "`req.method == 'get'`",
    'Write the text in the form of the variable; the finding says which',
  ],
  'expr.index_out_of_range': ["`split(req.url.path, '/')[9]` for a short path", 'Test size(…) first'],
  'expr.internal': ['Any expression', 'Report it with the expression, the request and the version'],
  'expr.invalid_argument': ["`timestamp('yesterday')`", 'Give a value in the form that the function takes'],
  'expr.invalid_cidr': [
    "`inCidrRange(conn.client_ip, '10.0.0.0/33')`",
    'Write an address and a mask: 10.0.0.0/8',
  ],
  'expr.invalid_pattern': [
    "`req.url.path.matches('(')`",
    'Correct the pattern: RE2 has neither look-around nor back references',
  ],
  'expr.legacy_spelling': ['`.req.host`', 'Write it without the leading dot; `check --fix` does'],
  'expr.limit_exceeded': ['A list with more than a million elements', 'Build a smaller value'],
  'expr.list_against_string': ["`req.headers['x-team'] == 'a'`", "Write 'a' in req.headers['x-team']"],
  'expr.may_be_missing': ["`req.headers['x-key'][0] == 'a'`", "Write 'x-key' in req.headers && … before it"],
  'expr.never_equal': [
    "`res.status_code == '200'`",
    'Compare values of one type; int() and string() convert',
  ],
  'expr.no_messages': ['`google.protobuf.Duration{}`', "Use a function, such as duration('10s')"],
  'expr.no_such_field': ['`req.url.pth`', 'Correct the name; the reference of expressions lists the fields'],
  'expr.no_such_key': ["`{'a': 1}['b']`", 'Test with `in` first'],
  'expr.no_such_overload': [
    '`req.url.path + 5`',
    'Convert one side, or use a function that takes these types',
  ],
  'expr.not_bool': ['`req.url.path` as a condition', "Compare it with something: req.url.path == '/admin'"],
  'expr.overflow': ['`9223372036854775807 + 1`', 'Use smaller numbers, or double'],
  'expr.syntax': ["`req.method = 'GET'`", 'Correct the place that the finding marks'],
  'expr.template': ['`${req.host`', 'Close the brace; $${ stands for the two characters themselves'],
  'expr.too_long': [
    'A list of thousands of addresses in one expression',
    'Use an IP policy, or several rules',
  ],
  'expr.unavailable': [
    '`res.status_code` in on_http_request',
    'Move the rule to the phase that the finding names',
  ],
  'expr.unknown_function': [
    '`len(req.url.path)`',
    'Correct the name; the reference of expressions lists the functions',
  ],
  'expr.unknown_variable': [
    '`request.method`',
    'Correct the name; the reference of expressions lists the variables',
  ],
  'expr.wrong_type': ['A number where a text is wanted', 'Convert it with string(), int() or double()'],
};
