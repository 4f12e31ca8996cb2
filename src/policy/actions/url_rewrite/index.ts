import { isUrlProblem, readRewritten, rewriteUrl, wholeUrl } from '../../../mechanisms/url_rewrite.ts';
import type { ActionKind } from '../../action.ts';
import { stepsOf } from '../../action.ts';
import { FAILURES, Failure } from '../../failure.ts';
import { compilePatternTemplate } from '../../pattern_templates.ts';
import { changeUrl, keepResult } from '../../walk.ts';

/** Changes the URL that the upstream is asked for; the client is not told. */
export const urlRewrite: ActionKind<'url-rewrite'> = {
  type: 'url-rewrite',
  says: { rewritten: 'the URL was rewritten', unchanged: 'the URL stays the same' },
  compile: ({ type, config }, compiling) => {
    const from = config.from === undefined ? null : compilePatternTemplate(compiling, config.from, '/from');
    const to = compiling.template(config.to, '/to');
    const step = stepsOf(type, urlRewrite.says, compiling.pointer);
    return {
      run: (walk) => {
        const { activation } = walk;
        const pattern = from === null ? null : from(activation);
        if (pattern instanceof Failure) return pattern;
        const target = to.text(activation);
        if (target instanceof Failure) return target;
        const before = wholeUrl(activation.request);
        const made = rewriteUrl(before, pattern, target);
        if (isUrlProblem(made)) return compiling.failure(FAILURES.action, `the new URL ${made.problem}`);
        if (made.url === before) {
          keepResult(walk, 'url_rewrite', { matches: made.matches, url: before });
          return { does: 'next', step: step('unchanged') };
        }
        const read = readRewritten(made.url, activation.request);
        if (isUrlProblem(read)) return compiling.failure(FAILURES.action, `the new URL ${read.problem}`);
        changeUrl(walk, read);
        const url = wholeUrl(read);
        keepResult(walk, 'url_rewrite', { matches: made.matches, url });
        return { does: 'next', step: step('rewritten', { url }) };
      },
    };
  },
};
