import { hasField } from '../../../http/fields.ts';
import type { ActionKind } from '../../action.ts';
import { stepsOf } from '../../action.ts';
import { FAILURES, Failure } from '../../failure.ts';
import { compileHeaders } from '../../header_templates.ts';

/** Answers with a response of its own, over which the response phase runs. */
export const customResponse: ActionKind<'custom-response'> = {
  type: 'custom-response',
  says: { answered: 'the response of the policy is given' },
  compile: ({ type, config }, compiling) => {
    const status = config.status_code;
    const body = compiling.template(config.body ?? '', '/body');
    const headers = compileHeaders(compiling, config.headers);
    const hasType = headers.names.includes('content-type');
    const step = stepsOf(type, customResponse.says, compiling.pointer)('answered', { status });
    return {
      run: ({ activation }) => {
        // RFC 9110 §15.2: an interim response answers nothing.
        if (status < 200) {
          return compiling.failure(
            FAILURES.bodyNotPermitted,
            `a response of status ${status} ends no request`,
          );
        }
        const text = body.text(activation);
        if (text instanceof Failure) return text;
        if (text !== '' && (status === 204 || status === 304)) {
          return compiling.failure(FAILURES.bodyNotPermitted, `a response of status ${status} has no body`);
        }
        const given = headers.fields(activation);
        if (given instanceof Failure) return given;
        const fields =
          hasType || text === '' || hasField(given, 'content-type') ? given : [...given, ...typeOf(text)];
        return { does: 'end', as: 'answered', step, response: { status, headers: fields, body: text } };
      },
    };
  },
};

/** The media type that a body seems to have. */
function typeOf(body: string): readonly [string, string] {
  const start = body.trimStart();
  if (/^[[{]/.test(start) && isJson(body)) return ['content-type', 'application/json'];
  const isHtml =
    /^<(?:!doctype html|html|head|body|h1|div|p|title|script|style|table|a|br|!--)(?=[\s>])/i.test(start);
  return ['content-type', isHtml ? 'text/html; charset=utf-8' : 'text/plain; charset=utf-8'];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
