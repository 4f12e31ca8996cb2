import { isUrlProblem, readRewritten, rewriteUrl, wholeUrl } from './algorithm.ts';
import type { ActionKind } from '../action.ts';
import { stepsOf } from '../action.ts';
import { FAILURES, Failure } from '../failure.ts';
import { compilePatternTemplate } from '../pattern_templates.ts';
import { changeUrl, keepResult } from '../policy_run.ts';
import { messages } from './facts.ts';

/** Changes the URL of the request to the upstream; the client does not see it. */
export const urlRewrite: ActionKind<'url-rewrite'> = {
  type: 'url-rewrite',
  compile: ({ type, config }, compiling) => {
    const from = config.from === undefined ? null : compilePatternTemplate(compiling, config.from, '/from');
    const to = compiling.template(config.to, '/to');
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
        if (made.url === before) {
          keepResult(policyRun, 'url_rewrite', { matches: made.matches, url: before });
          return { verdict: 'pass', step: step('unchanged') };
        }
        const read = readRewritten(made.url, activation.request);
        if (isUrlProblem(read)) return compiling.failure(FAILURES.action, `the new URL ${read.problem}`);
        changeUrl(policyRun, read);
        const url = wholeUrl(read);
        keepResult(policyRun, 'url_rewrite', { matches: made.matches, url });
        return { verdict: 'pass', step: step('rewritten', { url }) };
      },
    };
  },
};
