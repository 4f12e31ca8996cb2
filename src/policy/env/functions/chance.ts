import { type FunctionRow, func, overloadWith } from '../../../cel/function_table.ts';
import { DOUBLE, INT, STRING } from '../../../cel/types.ts';
import { Double, fail } from '../../../cel/values.ts';
import type { Activation } from '../activation.ts';

/** Functions that do not depend on arguments only: randomness, and secrets of the account. */
export const CHANCE_FUNCTIONS: readonly FunctionRow<Activation>[] = [
  func('rand.double', 'A random number from 0 (inclusive) to 1 (exclusive).', 'rand.double() < 1.0', [
    overloadWith({
      id: 'rand_double',
      style: 'global',
      params: [],
      result: DOUBLE,
      callWith: (activation: Activation) => new Double(activation.world.random()),
    }),
  ]),
  func(
    'rand.int',
    'A random integer from the first to the second, both inclusive; 0 or 1 without arguments.',
    'rand.int(1, 6) in [1, 2, 3, 4, 5, 6]',
    [
      overloadWith({
        id: 'rand_int',
        style: 'global',
        params: [],
        result: INT,
        callWith: (activation: Activation) => (activation.world.random() < 0.5 ? 0 : 1),
      }),
      overloadWith({
        id: 'rand_int_int_int',
        style: 'global',
        params: [INT, INT],
        result: INT,
        callWith: (activation: Activation, least, most) => {
          if (least > most)
            return fail('expr.invalid_argument', `there is no number from ${least} to ${most}`);
          const span = Number(most) - Number(least) + 1;
          // Beyond 53 bits one random number could not reach every value.
          if (typeof least === 'bigint' || typeof most === 'bigint' || !Number.isSafeInteger(span)) {
            return fail('expr.limit_exceeded', 'rand.int() needs a range of less than 2^53');
          }
          return least + Math.floor(activation.world.random() * span);
        },
      }),
    ],
  ),
  func(
    'secrets.get',
    'The value of a secret of a vault; an error if the secret does not exist.',
    "secrets.get('demo', 'token') == 's3cret'",
    [
      overloadWith({
        id: 'secrets_get',
        style: 'global',
        params: [STRING, STRING],
        result: STRING,
        callWith: (activation: Activation, vault, name) =>
          activation.surroundings.secret(vault, name) ??
          fail('expr.absent', `no secret '${name}' in a vault '${vault}'`),
      }),
    ],
  ),
];
