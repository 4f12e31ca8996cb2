import { isBodylessStatus } from '../../http/bodyless.ts';
import { hasField } from '../../http/fields.ts';
import { type ActionKind, stepsOf } from '../action.ts';
import { Failure } from '../failure.ts';
import { compileHeaders } from '../header_templates.ts';
import { messages, numbers } from './facts.ts';
import { isJson } from '../../http/ascii.ts';

/** Responds with a fixed response, which runs through the response phase. */
export const customResponse: ActionKind<'custom-response'> = {
  type: 'custom-response',
  compile: ({ type, config }, compiling) => {
    const status = config.status_code;
    const body = compiling.template(config.body ?? '', '/body');
    const headers = compileHeaders(compiling, config.headers);
    const hasType = headers.names.includes('content-type');
    const step = stepsOf(type, messages, compiling.pointer)('answered', { status });
    return {
      run: ({ activation }) => {
        // RFC 9110 §15.2: an interim response does not end the exchange.
        if (status < 200) {
          return compiling.failure(
            numbers.bodyNotPermitted.number,
            `a response of status ${status} does not end the request`,
          );
        }
        const text = body.text(activation);
        if (text instanceof Failure) return text;
        if (text !== '' && isBodylessStatus(status)) {
          return compiling.failure(
            numbers.bodyNotPermitted.number,
            `a response of status ${status} has no body`,
          );
        }
        const given = headers.fields(activation);
        if (given instanceof Failure) return given;
        const fields =
          hasType || text === '' || hasField(given, 'content-type') ? given : [...given, ...typeOf(text)];
        return { verdict: 'stop', as: 'answered', step, response: { status, headers: fields, body: text } };
      },
    };
  },
};

/** A guess of the body's media type. */
function typeOf(body: string): readonly [string, string] {
  const start = body.trimStart();
  if (/^[[{]/.test(start) && isJson(body)) return ['content-type', 'application/json'];
  const isHtml =
    /^<(?:!doctype html|html|head|body|h1|div|p|title|script|style|table|a|br|!--)(?=[\s>])/i.test(start);
  return ['content-type', isHtml ? 'text/html; charset=utf-8' : 'text/plain; charset=utf-8'];
}
