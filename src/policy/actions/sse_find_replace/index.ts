import type { BodyEditor } from '../../../engine/contract.ts';
import { type FieldReplacement, editEventStream } from '../../../mechanisms/event_stream.ts';
import { TOO_LONG } from '../../../mechanisms/find_replace.ts';
import type { ActionKind } from '../../action.ts';
import { stepsOf } from '../../action.ts';
import { Failure } from '../../failure.ts';
import { compileReplacements, encodingFailure } from '../../replacing.ts';
import { changeFlow, keepResult } from '../../walk.ts';

/**
 * Replaces texts in the messages of an event stream while it flows. The rule's expressions and the templates are
 * evaluated once, for the stream as a whole; what is found in it is known only when the exchange is over.
 */
export const sseFindReplace: ActionKind<'sse-find-replace'> = {
  type: 'sse-find-replace',
  says: { replacing: 'texts in messages of the stream are replaced while it flows' },
  compile: ({ type, config }, compiling) => {
    const fields = config.replacements.map(({ field }) => field);
    const replacementsOf = compileReplacements(compiling, config.replacements);
    const next = {
      does: 'next',
      step: stepsOf(type, sseFindReplace.says, compiling.pointer)('replacing'),
    } as const;
    return {
      run: (walk) => {
        const found = replacementsOf(walk.activation);
        if (found instanceof Failure) return found;
        const encoded = encodingFailure(compiling, walk, walk.activation.response.headers);
        if (encoded !== null) return encoded;
        const replacements = found.map(({ from, to }, index) => ({ from, to, field: fields[index]! }));
        changeFlow(walk, () => editorOf(replacements));
        keepResult(walk, 'sse_find_replace', { replacements: [] });
        return next;
      },
    };
  },
};

/** A message that is too long cannot be looked at, and so does not pass. */
function editorOf(replacements: readonly FieldReplacement[]): BodyEditor {
  const editor = editEventStream(replacements);
  return { push: (piece) => orNull(editor.push(piece)), end: () => orNull(editor.end()) };
}

function orNull(edited: Uint8Array | typeof TOO_LONG): Uint8Array | null {
  return edited === TOO_LONG ? null : edited;
}
