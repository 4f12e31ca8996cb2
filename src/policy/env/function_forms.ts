import type { FunctionRow, MacroRow, Overload, Row } from '../../cel/function_table.ts';
import { type Type, formatType } from '../../cel/types.ts';
import type { Activation } from './activation.ts';

/** How a macro is written. */
export function macroForm({ name, variables, bodies }: MacroRow): string {
  const loopNames = ['x', 'y'].slice(0, variables);
  const expressions = bodies === 1 ? ['expression'] : ['condition', 'expression'];
  return `target.${name}(${[...loopNames, ...expressions].join(', ')})`;
}

/** How a function is called: a form for each overload, with the types of its arguments and of its result. */
export function formsOf(one: FunctionRow<Activation>): string[] {
  const operator = isOperator(one as Row);
  return one.overloads.flatMap((overload) =>
    operator ? [operatorForm(one.name, overload)] : callForms(one.name, overload),
  );
}

function operatorForm(name: string, { params, result }: Overload<Activation>): string {
  const [left, right] = params.map(formatType);
  return right === undefined
    ? `${name.replace('_', '')}${left} → ${formatType(result)}`
    : `${left} ${name} ${right} → ${formatType(result)}`;
}

function callForms(name: string, { style, params, result, variadic }: Overload<Activation>): string[] {
  const types = params.map(typeName);
  if (variadic === true) types.push('…');
  const forms: string[] = [];
  if (style !== 'method') forms.push(`${name}(${types.join(', ')}) → ${typeName(result)}`);
  if (style !== 'global')
    forms.push(`${types[0]}.${name}(${types.slice(1).join(', ')}) → ${typeName(result)}`);
  return forms;
}

/** The type, with a plus sign if it is a string with fields. */
export function typeName(type: Type): string {
  return type.kind === 'object' && type.text !== undefined ? `${type.name}+` : formatType(type);
}

export function isOperator(one: Row): boolean {
  return !/^[A-Za-z]/.test(one.name) || one.name === 'in';
}
