import { withArticle } from '../diagnostics/message_text.ts';
import { adviseAbsence, adviseKey } from './advice.ts';
import { type Index, type Node, type Select, dottedPath } from './ast.ts';
import { type Checker, refuse } from './checking.ts';
import { findName, unknownField, unknownName } from './names.ts';
import { joinTypes } from './overloads.ts';
import { fieldOf, isUnavailable } from './scope.ts';
import { type Type, decayed, DYN, formatType, optional } from './types.ts';

export function typeOfName<A>(checker: Checker<A>, node: Node): Type | undefined {
  const found = findName(checker, node);
  if (found === undefined) return undefined;
  checker.meanings[node.id] = found.meaning;
  if (found.meaning.means === 'variable' && found.meaning.variable.oftenAbsent) adviseAbsence(checker, node);
  return found.type;
}

export function typeOfSelect<A>(checker: Checker<A>, node: Select): Type {
  const named = node.optional ? undefined : typeOfName(checker, node);
  if (named !== undefined) return named;
  const path = dottedPath(node.operand);
  if (path !== undefined && !node.optional && isNamespace(checker, node.operand, path)) {
    return unknownName(checker, node, [...path, node.field]);
  }
  const operand = checker.typeOf(node.operand);
  if (operand.kind === 'optional') return optionalOf(fieldType(checker, node, operand.value));
  const type = fieldType(checker, node, operand);
  if (node.optional) return optionalOf(type);
  adviseKey(checker, node, operand);
  const meaning = checker.meanings[node.id];
  if (meaning?.means === 'field' && meaning.field.oftenAbsent === true) adviseAbsence(checker, node);
  return type;
}

/** A prefix of variables that is not itself a variable or loop variable. */
function isNamespace<A>(checker: Checker<A>, operand: Node, path: readonly string[]): boolean {
  if (findName(checker, operand) !== undefined) return false;
  const name = path.join('.');
  return checker.scope.namespaces.has(name) || isUnavailable(checker.scope, name);
}

function fieldType<A>(checker: Checker<A>, node: Select, operand: Type): Type {
  if (operand.kind === 'dyn') return DYN;
  if (operand.kind === 'map') {
    const fits = operand.key.kind === 'string' || operand.key.kind === 'dyn';
    if (fits) return operand.value;
    return refuse(
      checker,
      node,
      `the map's keys are ${formatType(operand.key)}, not names`,
      'expr.no_such_overload',
    );
  }
  const field = fieldOf(operand, node.field);
  if (field === undefined) return unknownField(checker, node, operand);
  checker.meanings[node.id] = { means: 'field', field };
  return field.type;
}

function optionalOf(type: Type): Type {
  return type.kind === 'optional' ? type : optional(type);
}

export function typeOfIndex<A>(checker: Checker<A>, node: Index): Type {
  const operand = checker.typeOf(node.operand);
  const index = decayed(checker.typeOf(node.index));
  if (operand.kind === 'optional') return optionalOf(elementType(checker, node, operand.value, index));
  const type = elementType(checker, node, operand, index);
  if (!node.optional) adviseKey(checker, node, operand);
  return node.optional ? optionalOf(type) : type;
}

function elementType<A>(checker: Checker<A>, node: Index, operand: Type, index: Type): Type {
  if (operand.kind === 'dyn') return DYN;
  if (operand.kind === 'list') {
    if (index.kind === 'int' || index.kind === 'dyn') return operand.element;
    return refuse(
      checker,
      node,
      `a list is indexed by an int, not by ${withArticle(formatType(index))}`,
      'expr.no_such_overload',
    );
  }
  if (operand.kind !== 'map') {
    return refuse(
      checker,
      node,
      `a value of type ${formatType(operand)} cannot be indexed`,
      'expr.no_such_overload',
    );
  }
  if (joinTypes(operand.key, index) !== undefined) return operand.value;
  const message = `the map's keys are ${formatType(operand.key)}, not ${formatType(index)}`;
  return refuse(checker, node, message, 'expr.no_such_overload');
}
