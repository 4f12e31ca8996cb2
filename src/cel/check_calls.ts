import { adviseBinary, adviseCall, adviseKeyOfCall } from './advice.ts';
import type { Binary, Call, Node, Unary } from './ast.ts';
import { type Checker, report, sourceOf, wantBool } from './checking.ts';
import type { FunctionRow } from './function_table.ts';
import { DASH_MESSAGE, type DashedField, dashedField } from './habits.ts';
import { findName, functionCandidates, unknownFunction } from './names.ts';
import { matchOverloads } from './overloads.ts';
import { adviseStart, adviseText } from './text_forms.ts';
import { type Type, BOOL, DYN } from './types.ts';

export function typeOfCall<A>(checker: Checker<A>, node: Call): Type {
  const target = functionCandidates(checker, node);
  if (target.row !== undefined) adviseKeyOfCall(checker, node);
  const args = target.receiver === undefined ? node.args : [target.receiver, ...node.args];
  const types = args.map((argument) => checker.typeOf(argument));
  if (target.row === undefined) return unknownFunction(checker, node, types);
  adviseStart(checker, node);
  return resolve(checker, node, target.row, {
    args,
    types,
    style: target.receiver === undefined ? 'global' : 'method',
  });
}

interface CallSite {
  readonly args: readonly Node[];
  readonly types: readonly Type[];
  readonly style: 'global' | 'method';
}

function resolve<A>(checker: Checker<A>, node: Node, row: FunctionRow<A>, site: CallSite): Type {
  const { args, types, style } = site;
  const match = matchOverloads(row.overloads, style, types);
  if (match !== undefined) {
    const { candidates, exact } = match;
    checker.meanings[node.id] = { means: 'call', args, candidates, exact };
    return match.result;
  }
  adviseCall(checker, node, row, types);
  // In lenient mode the values decide; in strict mode the error above prevents the program.
  const candidates = row.overloads.filter(
    (overload) => overload.style === 'both' || overload.style === style,
  );
  checker.meanings[node.id] = { means: 'call', args, candidates, exact: false };
  return DYN;
}

export function typeOfUnary<A>(checker: Checker<A>, node: Unary): Type {
  const type = checker.typeOf(node.operand);
  if (node.operator === '-') {
    const row = checker.scope.functions.functions.get('-_');
    return row === undefined
      ? DYN
      : resolve(checker, node, row, { args: [node.operand], types: [type], style: 'global' });
  }
  wantBool(checker, node.operand, type, 'after `!`');
  return BOOL;
}

export function typeOfBinary<A>(checker: Checker<A>, node: Binary): Type {
  const before = checker.diagnostics.length;
  const types = [checker.typeOf(node.left), checker.typeOf(node.right)];
  const dashed = dashedField(node);
  if (dashed !== undefined && isWithoutBrackets(checker, dashed)) {
    // What was found in it is about subtracting.
    checker.diagnostics.length = before;
    return refuseDashes(checker, node, dashed);
  }
  if (adviseBinary(checker, node, types[0]!, types[1]!)) {
    checker.meanings[node.id] = { means: 'nothing', message: 'these types cannot be compared' };
    return BOOL;
  }
  adviseText(checker, node);
  const row = checker.scope.functions.functions.get(node.operator);
  if (row === undefined) return DYN;
  return resolve(checker, node, row, { args: [node.left, node.right], types, style: 'global' });
}

/** Whether a name with dashes would be a key of a map, and the word after its dash is not a variable. */
function isWithoutBrackets<A>(checker: Checker<A>, { select, second }: DashedField): boolean {
  const means = findName(checker, second)?.meaning.means;
  return checker.types[select.operand.id]?.kind === 'map' && (means === undefined || means === 'constant');
}

function refuseDashes<A>(checker: Checker<A>, node: Binary, { select, name, span }: DashedField): Type {
  const text = `${sourceOf(checker, select.operand)}['${name}']`;
  const fix = { message: `write \`${text}\``, span, text, safe: false };
  report(checker, 'expr.unknown_variable', span, DASH_MESSAGE, { hint: `did you mean \`${text}\`?`, fix });
  checker.meanings[node.id] = { means: 'nothing', message: DASH_MESSAGE };
  return DYN;
}
