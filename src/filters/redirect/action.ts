import { withoutField } from '../../http/fields.ts';
import { encodeUrl } from '../url_rewrite/algorithm.ts';
import { type ActionKind, stepsOf } from '../action.ts';
import { FAILURES, Failure } from '../failure.ts';
import { compileHeaders } from '../header_templates.ts';
import { compileUrlRewrite } from '../rewritten_url.ts';
import { keepResult } from '../policy_run.ts';
import { messages } from './facts.ts';

/** Redirects to another URL, computed from the whole one; if the URL does not change, the request continues. */
export const redirect: ActionKind<'redirect'> = {
  type: 'redirect',
  compile: ({ type, config }, compiling) => {
    const rewrite = compileUrlRewrite(config, compiling);
    const headers = compileHeaders(compiling, config.headers);
    const step = stepsOf(type, messages, compiling.pointer);
    return {
      run: (policyRun) => {
        const made = rewrite(policyRun);
        if (made instanceof Failure) return made;
        const location = encodeUrl(made.url.trim());
        keepResult(policyRun, 'redirect', { matches: made.matches, url: location });
        if (made.url === made.before || location === made.before)
          return { verdict: 'pass', step: step('unchanged') };
        if (location === '') return compiling.failure(FAILURES.action, 'the new URL is empty');
        const fields = headers.fields(policyRun.activation);
        if (fields instanceof Failure) return fields;
        const response = {
          status: config.status_code,
          headers: ['location', location, ...withoutField(fields, 'location')],
          body: '',
        };
        const come = step('redirected', { status: config.status_code, location });
        return { verdict: 'stop', as: 'redirected', step: come, response };
      },
    };
  },
};
