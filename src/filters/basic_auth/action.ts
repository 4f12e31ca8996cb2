import { splitTemplate } from '../../policy/env/template_split.ts';
import type { Activation } from '../../policy/env/activation.ts';
import {
  type Credentials,
  basicChallenge,
  isAuthorized,
  presentedCredentials,
  splitCredential,
} from './algorithm.ts';
import { type ActionKind, type Compiling, stepsOf } from '../action.ts';
import { FAILURES, Failure } from '../failure.ts';
import { keepResult } from '../policy_run.ts';
import { messages } from './facts.ts';

/** Requires a user name and a password (RFC 7617). */
export const basicAuth: ActionKind<'basic-auth'> = {
  type: 'basic-auth',
  compile: ({ type, config }, compiling) => {
    const known = config.credentials.map((text, index) => compileCredential(text, index, compiling));
    const { branding, refusal } = compiling.context;
    const page = refusal(401, null, 'This endpoint requires a user name and a password');
    const challenge = ['www-authenticate', basicChallenge(config.realm ?? branding.service)];
    const response = { ...page, headers: [...page.headers, ...challenge] };
    const step = stepsOf(type, messages, compiling.pointer, config);
    const failed = { credentials: { presented: false, authorized: false } };
    return {
      onFailure: config.enforce ? null : { result: 'basic_auth', base: failed },
      run: (policyRun) => {
        const { activation } = policyRun;
        const credentials: Credentials[] = [];
        for (const evaluate of known) {
          const one = evaluate(activation);
          if (one instanceof Failure) return one;
          credentials.push(one);
        }
        const presented = presentedCredentials(activation.request.headers);
        const authorized = presented !== null && isAuthorized(presented, credentials);
        const username = presented === null ? {} : { username: presented.username };
        const result = { presented: presented !== null, authorized, ...username };
        keepResult(policyRun, 'basic_auth', { credentials: result });
        const code = authorized ? 'authorized' : presented === null ? 'missing' : 'refused';
        const come = step(code);
        return authorized || !config.enforce
          ? { verdict: 'pass', step: come }
          : { verdict: 'stop', as: 'denied', step: come, response };
      },
    };
  },
};

type EvaluateCredential = (activation: Activation) => Credentials | Failure;

/**
 * The first literal colon in the text separates user and password, so that a colon in the value of a `${…}`
 * does not. A pair that is a single `${…}` is split after evaluation.
 */
function compileCredential(text: string, index: number, compiling: Compiling): EvaluateCredential {
  const at = `/credentials/${index}`;
  const colon = writtenColon(text);
  if (colon >= 0) {
    const user = compiling.template(text.slice(0, colon), at);
    const password = compiling.template(text.slice(colon + 1), at);
    return (activation) => {
      const username = user.text(activation);
      if (username instanceof Failure) return username;
      const secret = password.text(activation);
      return secret instanceof Failure ? secret : withPassword({ username, password: secret }, compiling);
    };
  }
  const whole = compiling.template(text, at);
  return (activation) => {
    const pair = whole.text(activation);
    if (pair instanceof Failure) return pair;
    const credentials = splitCredential(pair);
    return credentials === null
      ? compiling.failure(FAILURES.interpolation, 'a credential has no colon')
      : withPassword(credentials, compiling);
  };
}

/** A secret that is set to nothing must not let everyone in who sends a user name alone. */
function withPassword(credentials: Credentials, compiling: Compiling): Credentials | Failure {
  return credentials.password === ''
    ? compiling.failure(FAILURES.interpolation, 'the password of a credential is empty')
    : credentials;
}

/** Offset of the first colon outside `${…}`, or -1. */
function writtenColon(text: string): number {
  const pieces = splitTemplate(text);
  if (!Array.isArray(pieces)) return -1;
  let from = 0;
  for (const piece of pieces) {
    if (piece.kind === 'expression') from = piece.span.end + 1;
    else {
      const end = text.indexOf('${', from);
      const colon = text.indexOf(':', from);
      if (colon >= 0 && (end < 0 || colon < end)) return colon;
    }
  }
  return -1;
}
