import type { PolicyRun } from './policy_run.ts';
import type { Compiling } from './action.ts';
import { FAILURES, Failure } from './failure.ts';
import { compilePatternTemplate } from './pattern_templates.ts';
import { isUrlProblem, rewriteUrl, wholeUrl } from './url_rewrite/algorithm.ts';

interface Rewritten {
  /** The whole URL of the request. */
  readonly before: string;
  /** As the replacement gives it. */
  readonly url: string;
  readonly matches: readonly string[];
}

/** Compiles the pattern and the replacement of an action that computes a URL from the whole one of the request. */
export function compileUrlRewrite(
  config: { readonly from?: string | undefined; readonly to: string },
  compiling: Compiling,
): (policyRun: PolicyRun) => Rewritten | Failure {
  const from = config.from === undefined ? null : compilePatternTemplate(compiling, config.from, '/from');
  const to = compiling.template(config.to, '/to');
  return ({ activation }) => {
    const pattern = from === null ? null : from(activation);
    if (pattern instanceof Failure) return pattern;
    const target = to.text(activation);
    if (target instanceof Failure) return target;
    const before = wholeUrl(activation.request);
    const made = rewriteUrl(before, pattern, target);
    if (isUrlProblem(made)) return compiling.failure(FAILURES.action, `the new URL ${made.problem}`);
    return { before, ...made };
  };
}
