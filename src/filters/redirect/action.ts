import { withoutField } from '../../http/fields.ts';
import { encodeUrl, isUrlProblem, rewriteUrl, wholeUrl } from '../url_rewrite/algorithm.ts';
import type { ActionKind } from '../action.ts';
import { stepsOf } from '../action.ts';
import { FAILURES, Failure } from '../failure.ts';
import { compileHeaders } from '../header_templates.ts';
import { compilePatternTemplate } from '../pattern_templates.ts';
import { keepResult } from '../policy_run.ts';
import { messages } from './facts.ts';

/** Redirects to another URL, computed from the whole one; if the URL does not change, the request continues. */
export const redirect: ActionKind<'redirect'> = {
  type: 'redirect',
  compile: ({ type, config }, compiling) => {
    const from = config.from === undefined ? null : compilePatternTemplate(compiling, config.from, '/from');
    const to = compiling.template(config.to, '/to');
    const headers = compileHeaders(compiling, config.headers);
    const step = stepsOf(type, messages, compiling.pointer);
    return {
      run: (policyRun) => {
        const { activation } = policyRun;
        const pattern = from === null ? null : from(activation);
        if (pattern instanceof Failure) return pattern;
        const target = to.text(activation);
        if (target instanceof Failure) return target;
        const before = wholeUrl(activation.request);
        const made = rewriteUrl(before, pattern, target);
        if (isUrlProblem(made)) return compiling.failure(FAILURES.action, `the new URL ${made.problem}`);
        const location = encodeUrl(made.url.trim());
        keepResult(policyRun, 'redirect', { matches: made.matches, url: location });
        if (made.url === before || location === before) return { verdict: 'pass', step: step('unchanged') };
        if (location === '') return compiling.failure(FAILURES.action, 'the new URL is empty');
        const fields = headers.fields(activation);
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
