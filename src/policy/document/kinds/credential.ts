import { fieldName, quoted } from '../words.ts';
import type { KindCheck } from './kind.ts';

const PASSWORD_LEAST = 8;
const PASSWORD_MOST = 128;
const CONTROL = /\p{Cc}/u;

/** `user:password` (RFC 7617 §2): the first colon splits, neither part has control characters. */
export const credential: KindCheck = {
  text: ({ report }, _shape, text, pointer) => {
    const name = quoted(fieldName(pointer));
    const colon = text.indexOf(':');
    if (colon === -1) {
      report(2204, pointer, `${name} has to be a user name, a colon and a password`, {
        hint: 'write user:password',
      });
      return;
    }
    const user = text.slice(0, colon);
    const password = text.slice(colon + 1);
    const within = (start: number, end: number) => ({ span: { start, end }, decoded: text });
    if (user === '' || CONTROL.test(user)) {
      const says = user === '' ? 'is empty' : 'has control characters';
      report(2257, pointer, `the user name of ${name} ${says}`, { within: within(0, Math.max(colon, 1)) });
    }
    const at = within(colon + 1, text.length);
    if (CONTROL.test(password)) {
      report(2258, pointer, `the password of ${name} has control characters`, { within: at });
    } else if (password.length < PASSWORD_LEAST) {
      const says = `the password of ${name} has ${password.length} characters; at least ${PASSWORD_LEAST} are needed`;
      report(2237, pointer, says, { within: password === '' ? within(colon, colon + 1) : at });
    } else if (password.length > PASSWORD_MOST) {
      const says = `the password of ${name} has ${password.length} characters; at most ${PASSWORD_MOST} are allowed`;
      report(2221, pointer, says, { within: at });
    }
  },
};
