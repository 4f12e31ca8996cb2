import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { Activation } from '../expression/vocabulary/activation.ts';
import { type FieldList, listMembers } from '../http/fields.ts';
import { type Replacement, TOO_LONG, replaceInBody } from '../mechanisms/find_replace.ts';
import type { ActionKind, ActionOutcome, Compiling } from './action.ts';
import { stepsOf, waitFor } from './action.ts';
import { FAILURES, Failure } from './failure.ts';
import { compilePatternTemplate } from './pattern_templates.ts';
import { type Walk, changeBody, keepResult } from './walk.ts';

/** Largest body that is searched, and largest that replacing may make of it: a million matches take a second. */
export const REPLACING_LIMIT_BYTES = 2 ** 20;

const SAYS = {
  replaced: 'texts in the body were replaced',
  unchanged: 'nothing in the body had to be replaced',
};

/** Which body is meant. */
interface Part {
  readonly ask: 'body' | 'response_body';
  readonly result: string;
  readonly headers: (walk: Walk) => FieldList;
  /** The body as earlier actions have left it; null when it has not been asked for. */
  readonly known: (walk: Walk) => Uint8Array | null;
}

export const REQUEST_BODY: Part = {
  ask: 'body',
  result: 'request_body_find_replace',
  headers: ({ activation }) => activation.request.headers,
  known: ({ requestBody }) => requestBody,
};

export const RESPONSE_BODY: Part = {
  ask: 'response_body',
  result: 'response_body_find_replace',
  headers: ({ activation }) => activation.response.headers,
  known: ({ responseBody }) => responseBody,
};

/** An action that replaces texts in a body. */
export function replacingIn<T extends 'request-body-find-replace' | 'response-body-find-replace'>(
  type: T,
  part: Part,
): ActionKind<T> {
  return {
    type,
    says: SAYS,
    compile: ({ config, pointer }, compiling) => {
      const replacementsOf = compileReplacements(compiling, config.replacements);
      const step = stepsOf(type, SAYS, pointer);
      const replace = (walk: Walk, body: Uint8Array, replacements: readonly Replacement[]): ActionOutcome => {
        const replaced = replaceInBody(body, replacements, REPLACING_LIMIT_BYTES);
        if (replaced === TOO_LONG) {
          return compiling.failure(
            FAILURES.bodyUnchanged,
            `the body would exceed ${REPLACING_LIMIT_BYTES} bytes`,
          );
        }
        const { bytes, count, found } = replaced;
        keepResult(walk, part.result, {
          replacements: found.map(({ index, matched }) => ({
            replacement_index: index,
            matched_content: matched,
          })),
        });
        if (count === 0) return { does: 'next', step: step('unchanged') };
        changeBody(walk, bytes);
        return { does: 'next', step: step('replaced', { count }) };
      };
      return {
        run: (walk) => {
          const replacements = replacementsOf(walk.activation);
          if (replacements instanceof Failure) return replacements;
          const encoded = encodingFailure(compiling, walk, part.headers(walk));
          if (encoded !== null) return encoded;
          const known = part.known(walk);
          if (known !== null) return replace(walk, known, replacements);
          return waitFor({ ask: part.ask, limitBytes: REPLACING_LIMIT_BYTES }, (answer) => {
            if ('bytes' in answer) return replace(walk, answer.bytes, replacements);
            return compiling.failure(FAILURES.bodyUnread, `the body could not be read: ${answer.failure}`);
          });
        },
      };
    },
  };
}

/** Replacements have numbers of their own for what goes wrong with their texts. */
const IN_REPLACEMENTS = { template: FAILURES.replacementTemplate, pattern: FAILURES.replacementPattern };

/** Compiles the replacements of an action. */
export function compileReplacements(
  compiling: Compiling,
  written: readonly { readonly from: string; readonly to: string }[],
): (activation: Activation) => readonly Replacement[] | Failure {
  const compiled = written.map(({ from, to }, index) => {
    const at = pointerTo('/replacements', index);
    return {
      from: compilePatternTemplate(compiling, from, `${at}/from`, IN_REPLACEMENTS),
      to: compiling.template(to, `${at}/to`),
    };
  });
  return (activation) => {
    const replacements: Replacement[] = [];
    for (const each of compiled) {
      const from = each.from(activation);
      if (from instanceof Failure) return from;
      const to = each.to.text(activation);
      if (to instanceof Failure) return new Failure(IN_REPLACEMENTS.template, to.says, to.pointer);
      replacements.push({ from, to });
    }
    return replacements;
  };
}

/**
 * Why a body cannot be searched. An encoded body hides what is looked for, and a policy that replaces texts to
 * hide them must not let it through.
 */
export function encodingFailure(compiling: Compiling, walk: Walk, headers: FieldList): Failure | null {
  // What this policy has compressed before is compressed when the body goes out: here it is plain still.
  const own = walk.edits?.find((edit) => edit.edit === 'compress')?.algorithm;
  const codings = listMembers(headers, 'content-encoding').filter(
    (coding) => coding !== 'identity' && coding !== own,
  );
  if (codings.length === 0) return null;
  return compiling.failure(FAILURES.bodyNotBuffered, `the body is encoded (${codings.join(', ')})`);
}
