import { hasErrors } from '../../diagnostics/diagnostic.ts';
import { type Program, compile } from '../../cel/program.ts';
import { declareScope, variable } from '../../cel/scope.ts';
import { BOOL, DYN } from '../../cel/types.ts';
import type { Value } from '../../cel/values.ts';
import { isError } from '../../cel/values.ts';
import { VALUE_TABLE } from '../../policy/env/functions/table.ts';
import { valueOfPlain } from '../../policy/env/json.ts';
import { ApiProblem } from '../resources/problem.ts';

interface Filtered {
  readonly obj: Value;
}

/** Variables of list filters: `obj` is the object as in responses. */
const LIST_FILTER_SCOPE = declareScope<Filtered>({
  name: 'list filter',
  functions: VALUE_TABLE,
  variables: [variable('obj', DYN, 'The object as in responses.', { read: ({ obj }: Filtered) => obj })],
});

export type ListFilter = (object: Readonly<Record<string, unknown>>) => boolean;

/**
 * Compiles the `filter` of a list; throws the documented error. Objects for which the filter fails are
 * omitted.
 */
export function listFilter(source: string): ListFilter {
  const { program, diagnostics } = compile(source, LIST_FILTER_SCOPE, { wants: BOOL, typing: 'lenient' });
  if (program === undefined) {
    const finding = diagnostics.find((each) => hasErrors([each]));
    throw new ApiProblem(400, 250, `Invalid CEL query: ${finding?.message ?? 'it cannot be read'}.`);
  }
  const ready: Program<Filtered> = program;
  return (object) => {
    const obj = valueOfPlain(object);
    return !isError(obj) && ready.evaluate({ obj }) === true;
  };
}
