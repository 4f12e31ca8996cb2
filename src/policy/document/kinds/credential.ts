import { counted, quoted } from '../../../diagnostics/message_text.ts';
import { fieldName } from '../message_text.ts';
import { scanTemplate } from '../../env/template_split.ts';
import type { KindCheck } from '../checking.ts';

const PASSWORD_LEAST = 8;
const PASSWORD_MOST = 128;
const CONTROL = /\p{Cc}/u;

/** `user:password` (RFC 7617 §2): the first colon splits, neither part has control characters. */
export const credential: KindCheck = {
  text: ({ report }, _shape, text, pointer) => {
    const problem = problemOf(text);
    if (problem === undefined) return true;
    const { number, message, from, to, hint } = problem;
    const within = { span: { start: from, end: Math.max(to, from + 1) }, decoded: text };
    report(number, pointer, `${message} (${quoted(fieldName(pointer))})`, { within, hint });
    return false;
  },
  // A pair with expressions needs a colon outside of them, unless one expression is all of it.
  template: ({ report }, text, pointer) => {
    const { pieces } = scanTemplate(text);
    if (pieces.length === 1 || pieces.some((piece) => piece.kind === 'text' && piece.text.includes(':')))
      return;
    report(2204, pointer, 'no colon outside of the expressions separates the user name from the password', {
      hint: 'write user:password, or one expression for both',
    });
  },
};

interface Problem {
  readonly number: number;
  readonly message: string;
  readonly from: number;
  readonly to: number;
  readonly hint: string;
}

function problemOf(text: string): Problem | undefined {
  const colon = text.indexOf(':');
  if (colon === -1) {
    const message = 'a credential is a user name, a colon and a password';
    return { number: 2204, message, from: 0, to: text.length, hint: 'write user:password' };
  }
  const user = text.slice(0, colon);
  const password = text.slice(colon + 1);
  if (user === '')
    return { number: 2257, message: 'the user name is empty', from: 0, to: 1, hint: 'write user:password' };
  if (CONTROL.test(user)) {
    const message = 'the user name contains control characters';
    return { number: 2257, message, from: 0, to: colon, hint: 'RFC 7617 §2 forbids them' };
  }
  const at = { from: password === '' ? colon : colon + 1, to: text.length };
  const length = Array.from(password).length;
  if (CONTROL.test(password)) {
    const message = 'the password contains control characters';
    return { number: 2258, message, ...at, hint: 'RFC 7617 §2 forbids them' };
  }
  if (length < PASSWORD_LEAST) {
    const message = `the password has ${counted(length, 'character')}`;
    return { number: 2237, message, ...at, hint: `at least ${PASSWORD_LEAST} are required` };
  }
  if (length <= PASSWORD_MOST) return undefined;
  const message = `the password has ${counted(length, 'character')}`;
  return { number: 2221, message, ...at, hint: `at most ${PASSWORD_MOST} are allowed` };
}
