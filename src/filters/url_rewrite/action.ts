import { isUrlProblem, readRewritten, wholeUrl } from './algorithm.ts';
import { type ActionKind, stepsOf } from '../action.ts';
import { FAILURES, Failure } from '../failure.ts';
import { compileUrlRewrite } from '../rewritten_url.ts';
import { changeUrl, keepResult } from '../policy_run.ts';
import { messages } from './facts.ts';

/** Changes the URL of the request to the upstream; the client does not see it. */
export const urlRewrite: ActionKind<'url-rewrite'> = {
  type: 'url-rewrite',
  compile: ({ type, config }, compiling) => {
    const rewrite = compileUrlRewrite(config, compiling);
    const step = stepsOf(type, messages, compiling.pointer);
    return {
      run: (policyRun) => {
        const made = rewrite(policyRun);
        if (made instanceof Failure) return made;
        if (made.url === made.before) {
          keepResult(policyRun, 'url_rewrite', { matches: made.matches, url: made.before });
          return { verdict: 'pass', step: step('unchanged') };
        }
        const read = readRewritten(made.url, policyRun.activation.request);
        if (isUrlProblem(read)) return compiling.failure(FAILURES.action, `the new URL ${read.problem}`);
        changeUrl(policyRun, read);
        const url = wholeUrl(read);
        keepResult(policyRun, 'url_rewrite', { matches: made.matches, url });
        return { verdict: 'pass', step: step('rewritten', { url }) };
      },
    };
  },
};
