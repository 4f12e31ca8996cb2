import type { BodyEditor } from '../../engine/questions.ts';
import { type FieldReplacement, editEventStream } from './algorithm.ts';
import { TOO_LONG } from '../find_replace/algorithm.ts';
import { type ActionKind, stepsOf } from '../action.ts';
import { Failure } from '../failure.ts';
import { numbers } from '../find_replace/facts.ts';
import { compileReplacements, encodingFailure } from '../replacing.ts';
import { changeFlow, keepResult } from '../policy_run.ts';
import { messages } from './facts.ts';

/**
 * Replaces text in the messages of an event stream while it streams. The rule's expressions and the templates
 * are evaluated once for the whole stream; matches are known only at the end of the exchange.
 */
export const sseFindReplace: ActionKind<'sse-find-replace'> = {
  type: 'sse-find-replace',
  compile: ({ type, config }, compiling) => {
    const fields = config.replacements.map(({ field }, index) =>
      compiling.template(field, `/replacements/${index}/field`),
    );
    const replacementsOf = compileReplacements(compiling, config.replacements);
    const next = {
      verdict: 'pass',
      step: stepsOf(type, messages, compiling.pointer)('replacing'),
    } as const;
    return {
      run: (policyRun) => {
        const found = replacementsOf(policyRun.activation);
        if (found instanceof Failure) return found;
        const encoded = encodingFailure(compiling, policyRun, policyRun.activation.response.headers);
        if (encoded !== null) return encoded;
        const replacements: FieldReplacement[] = [];
        for (const [index, { from, to }] of found.entries()) {
          const field = fields[index]!.text(policyRun.activation);
          if (field instanceof Failure) return field;
          if (field !== 'data' && field !== 'retry')
            return compiling.failure(numbers.template.number, 'the field is neither data nor retry');
          replacements.push({ from, to, field });
        }
        changeFlow(policyRun, () => editorOf(replacements));
        keepResult(policyRun, 'sse_find_replace', { replacements: [] });
        return next;
      },
    };
  },
};

/** A message that is too long cannot be searched, so it must not pass. */
function editorOf(replacements: readonly FieldReplacement[]): BodyEditor {
  const editor = editEventStream(replacements);
  return { push: (piece) => orNull(editor.push(piece)), end: () => orNull(editor.end()) };
}

function orNull(edited: Uint8Array | typeof TOO_LONG): Uint8Array | null {
  return edited === TOO_LONG ? null : edited;
}
