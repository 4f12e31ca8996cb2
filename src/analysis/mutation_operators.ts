/** The kinds of mistakes that are planted, each with what it does; docs list them from here. */
// table: operators of mutation
export const MUTATION_OPERATORS = {
  'route-missing': 'leaves out a route',
  'route-match': 'misspells what a route matches',
  'match-type': 'swaps exact and prefix matching',
  'module-missing': 'leaves out a module of a route or an edge, such as a gate',
  'backend-swapped': 'sends requests to another backend of the file',
  'policy-swapped': 'uses another IP policy of the file',
  'range-missing': 'leaves out a range of an IP policy or a list',
  'range-size': 'makes a range twice or half as large',
  'allow-deny': 'swaps allow and deny',
  'rule-missing': 'leaves out a rule of a policy',
  'rule-order': 'swaps two rules',
  'action-missing': 'leaves out an action of a rule',
  'action-order': 'swaps two actions of a rule',
  'expression-missing': 'leaves out an expression of a rule',
  'expression-negated': 'negates an expression of a rule',
  'term-missing': 'leaves out a term of `&&` or `||`',
  'term-negated': 'negates a term of `&&` or `||`, or drops a `!`',
  'and-or': 'swaps `&&` and `||`',
  comparison: 'uses another comparison, such as `<=` for `<`, or `!=` for `==`',
  'text-function': 'uses another function of texts, such as `contains` for `startsWith`',
  'element-missing': 'leaves out an element of a list in an expression',
  constant: 'changes a constant in an expression by one, or by a letter',
  pattern: 'changes a pattern: anchors, case, repetition, an alternative',
  number: 'changes a number by one, to half, or by half',
  duration: 'changes a duration',
  weight: 'changes the weight of a backend',
  'header-missing': 'leaves out a header that is set or removed',
  'header-value': 'misspells the value of a header',
  'header-name': 'misspells the name of a header',
  'limit-key': 'counts all clients together, or by another key',
  flag: 'flips a flag',
  'setting-missing': 'leaves out a setting',
  'setting-text': 'misspells a text',
  'item-missing': 'leaves out an item of a list',
  'item-order': 'swaps two items of a list',
} as const;

export type MutationOperator = keyof typeof MUTATION_OPERATORS;

/** What is done to a part: it is left out, comes before the one before it, or has another value. */
type Deed = 'missing' | 'order' | 'value';

const BY_PLACE: readonly (readonly [place: RegExp, deeds: Partial<Record<Deed, MutationOperator>>])[] = [
  [/\/expressions\/\d+$/, { missing: 'expression-missing', order: 'item-order' }],
  [/\/actions\/\d+$/, { missing: 'action-missing', order: 'action-order' }],
  [/\/value\/(?:on_\w+|inbound|outbound)\/\d+$/, { missing: 'rule-missing', order: 'rule-order' }],
  [/\/value\/(?:on_\w+|inbound|outbound)\/\d+\/expressions$/, { missing: 'expression-missing' }],
  [/\/routes\/\d+$/, { missing: 'route-missing', order: 'item-order' }],
  [/\/routes\/\d+\/match$/, { value: 'route-match' }],
  [/\/match_type$/, { value: 'match-type' }],
  [/\/routes\/\d+\/[^/]+$|^\/edges\/\w+\/[^/]+\/[^/]+$/, { missing: 'module-missing' }],
  [
    /\/ip_policies\/[^/]+\/rules\/\d+$|\/(?:allow|deny)\/\d+$/,
    { missing: 'range-missing', order: 'item-order' },
  ],
  [/\/weighted\/[^/]+$/, { missing: 'weight', value: 'weight' }],
  [/\/headers\/[^/]+$/, { missing: 'header-missing', value: 'header-value' }],
];

/** The operator of a change, by what is done to which part. */
export function operatorOf(deed: Deed, pointer: string, value: unknown): MutationOperator {
  const placed = BY_PLACE.find(([place, deeds]) => deeds[deed] !== undefined && place.test(pointer));
  if (placed !== undefined) return placed[1][deed]!;
  const isItem = /\/\d+$/.test(pointer);
  if (deed === 'order') return 'item-order';
  if (deed === 'missing') return isItem ? 'item-missing' : 'setting-missing';
  if (typeof value === 'boolean') return 'flag';
  if (typeof value === 'number') return 'number';
  const text = String(value);
  if (text === 'allow' || text === 'deny') return 'allow-deny';
  if (/^[\da-f.:]+\/\d+$/i.test(text)) return 'range-size';
  if (/^\d+(?:ms|s|m|h)$/.test(text)) return 'duration';
  return /[\\^$|(+*?]/.test(text) ? 'pattern' : 'setting-text';
}
