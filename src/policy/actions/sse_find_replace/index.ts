import { editEventStream } from '../../../mechanisms/event_stream.ts';
import { TOO_LONG } from '../../../mechanisms/find_replace.ts';
import type { ActionKind, ActionOutcome } from '../../action.ts';
import { stepsOf, waitFor } from '../../action.ts';
import { FAILURES, Failure } from '../../failure.ts';
import { REPLACING_LIMIT_BYTES, compileReplacements, encodingFailure } from '../../replacing.ts';
import { type Walk, changeBody, keepResult } from '../../walk.ts';

/**
 * Replaces texts in the messages of an event stream. The rule's expressions and the templates are evaluated once,
 * for the stream as a whole. The stream is asked for as a body: it must end, and fit into one.
 */
export const sseFindReplace: ActionKind<'sse-find-replace'> = {
  type: 'sse-find-replace',
  says: {
    replaced: 'texts in messages of the stream were replaced',
    unchanged: 'nothing in the stream had to be replaced',
  },
  compile: ({ type, config }, compiling) => {
    const fields = config.replacements.map(({ field }) => field);
    const replacementsOf = compileReplacements(compiling, config.replacements);
    const step = stepsOf(type, sseFindReplace.says, compiling.pointer);

    const edit = (
      walk: Walk,
      body: Uint8Array,
      replacements: Parameters<typeof editEventStream>[0],
    ): ActionOutcome => {
      const editor = editEventStream(replacements);
      const whole = editor.push(body);
      if (whole === TOO_LONG)
        return compiling.failure(FAILURES.replacedTooLarge, 'a message of the stream is too long');
      keepResult(walk, 'sse_find_replace', {
        replacements: editor.found.map(({ index, matched }) => ({
          replacement_index: index,
          matched_content: matched,
        })),
      });
      const count = editor.count();
      if (count === 0) return { does: 'next', step: step('unchanged') };
      changeBody(walk, Buffer.concat([whole, editor.end()]));
      return { does: 'next', step: step('replaced', { count }) };
    };

    return {
      run: (walk) => {
        const found = replacementsOf(walk.activation);
        if (found instanceof Failure) return found;
        const encoded = encodingFailure(compiling, walk.activation.response.headers);
        if (encoded !== null) return encoded;
        const replacements = found.map(({ from, to }, index) => ({ from, to, field: fields[index]! }));
        if (walk.responseBody !== null) return edit(walk, walk.responseBody, replacements);
        return waitFor({ ask: 'response_body', limitBytes: REPLACING_LIMIT_BYTES }, (answer) => {
          if ('bytes' in answer) return edit(walk, answer.bytes, replacements);
          const number = answer.failure === 'too_large' ? FAILURES.bodyTooLarge : FAILURES.bodyUnread;
          return compiling.failure(number, `the stream could not be read: ${answer.failure}`);
        });
      },
    };
  },
};
