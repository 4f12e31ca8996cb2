import { pointerTo } from '../diagnostics/diagnostic.ts';
import { isFieldValue, type FieldList } from '../http/fields.ts';
import { isFraming, isHopByHop } from '../http/forwarding.ts';
import type { Activation } from '../expression/vocabulary/activation.ts';
import type { Compiling } from './action.ts';
import type { Template } from './evaluators.ts';
import { FAILURES, Failure } from './failure.ts';

/** The fields that a `headers` map makes, names in lower case. */
export interface HeaderTemplates {
  readonly names: readonly string[];
  readonly fields: (activation: Activation) => FieldList | Failure;
}

/**
 * Compiles a map from header names to templates. Fields that say how a message is sent, and those of one
 * connection only, are left out: they are for whoever writes the message.
 */
export function compileHeaders(
  compiling: Compiling,
  headers: Readonly<Record<string, string>>,
  at = '/headers',
): HeaderTemplates {
  const kept = Object.entries(headers).filter(([name]) => !isOfTheWriter(name.toLowerCase()));
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

function isOfTheWriter(lower: string): boolean {
  return isFraming(lower) || isHopByHop(lower);
}

/**
 * The value of one field. Blanks around it are not part of a value (RFC 9110 §5.5); text beyond Latin-1 goes as
 * its UTF-8 bytes. What would end the line, and let a value smuggle in fields of its own, is a failure.
 */
function fieldValue(template: Template, activation: Activation, pointer: () => string): string | Failure {
  const made = template.text(activation);
  if (typeof made !== 'string') return made;
  const text = asBytes(made.trim());
  if (isFieldValue(text)) return text;
  return new Failure(FAILURES.interpolation, 'a header value must not have control characters', pointer());
}

/** The text with every character one byte. */
function asBytes(text: string): string {
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) > 0xff) return Buffer.from(text, 'utf8').toString('latin1');
  }
  return text;
}
