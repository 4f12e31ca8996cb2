import { pointerTo } from '../diagnostics/diagnostic.ts';
import { isFieldValue, type FieldList } from '../http/fields.ts';
import { isFraming, isHopByHop } from '../http/forwarding.ts';
import type { Activation } from '../policy/env/activation.ts';
import type { Compiling } from './action.ts';
import type { Template } from './evaluators.ts';
import { FAILURES, Failure } from './failure.ts';

/** The compiled fields of a `headers` map, with lower-case names. */
export interface HeaderTemplates {
  readonly names: readonly string[];
  readonly fields: (activation: Activation) => FieldList | Failure;
}

/**
 * Compiles a map from header names to templates. Framing and connection-specific fields are left out: the
 * writer of the message sets them.
 */
export function compileHeaders(
  compiling: Compiling,
  headers: Readonly<Record<string, string>>,
  at = '/headers',
): HeaderTemplates {
  const kept = Object.entries(headers).filter(([name]) => !isSetByWriter(name.toLowerCase()));
  const names = kept.map(([name]) => name.toLowerCase());
  const values = kept.map(([name, text]) => {
    const below = pointerTo(at, name);
    return { below, template: compiling.template(text, below) };
  });
  const evaluate = (activation: Activation): FieldList | Failure => {
    const fields: string[] = [];
    for (let index = 0; index < values.length; index++) {
      const { below, template } = values[index]!;
      const value = fieldValue(template, activation, () => `${compiling.pointer}/config${below}`);
      if (value instanceof Failure) return value;
      fields.push(names[index]!, value);
    }
    return fields;
  };
  if (values.some(({ template }) => template.constant === null)) return { names, fields: evaluate };
  const constant = evaluate(undefined as never);
  return { names, fields: () => constant };
}

function isSetByWriter(lower: string): boolean {
  return isFraming(lower) || isHopByHop(lower);
}

/**
 * The value of one field. Surrounding blanks are not part of a value (RFC 9110 §5.5); text beyond Latin-1 is
 * sent as UTF-8. A character that could end the line, and so inject fields, is a failure.
 */
function fieldValue(template: Template, activation: Activation, pointer: () => string): string | Failure {
  const made = template.text(activation);
  if (typeof made !== 'string') return made;
  const text = asBytes(made.trim());
  if (isFieldValue(text)) return text;
  return new Failure(FAILURES.interpolation, 'a header value must not have control characters', pointer());
}

/** The UTF-8 encoding with one character per byte. */
function asBytes(text: string): string {
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) > 0xff) return Buffer.from(text, 'utf8').toString('latin1');
  }
  return text;
}
