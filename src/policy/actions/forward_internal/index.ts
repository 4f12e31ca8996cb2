import type { InternalTarget } from '../../../engine/contract.ts';
import { parseAuthority } from '../../../http/host.ts';
import { encodeUrl } from '../../../mechanisms/url_rewrite.ts';
import { parseTarget } from '../../../http/target.ts';
import type { Activation } from '../../../expression/vocabulary/activation.ts';
import type { ActionKind, Compiling } from '../../action.ts';
import { stepsOf } from '../../action.ts';
import { FAILURES, Failure } from '../../failure.ts';
import { HOP_LIMIT } from '../../forwarding.ts';
import { keepResult } from '../../walk.ts';

/** Hands the request to an internal endpoint of the same configuration. */
export const forwardInternal: ActionKind<'forward-internal'> = {
  type: 'forward-internal',
  says: { forwarded: 'the request is handed to an internal endpoint' },
  compile: ({ type, config }, compiling) => {
    const url = compiling.template(config.url, '/url');
    const { context, failure } = compiling;
    const message = 'This version does not forward to internal endpoints here';
    const response = context.refusal(501, null, message);
    const step = stepsOf(type, forwardInternal.says, compiling.pointer);
    return {
      onFailure: config.on_error === 'halt' ? null : { result: 'forward_internal', base: {} },
      run: (walk) => {
        const text = url.text(walk.activation);
        if (text instanceof Failure) return text;
        const target = readTarget(text.trim(), walk.activation, compiling);
        if (target instanceof Failure) return target;
        if ((walk.connection.hops ?? 0) >= HOP_LIMIT) {
          return failure(FAILURES.hops, `the request was handed on ${HOP_LIMIT} times already`);
        }
        keepResult(walk, 'forward_internal', {});
        return {
          does: 'end',
          as: 'forwarded',
          step: step('forwarded', { host: target.host }),
          response,
          target,
        };
      },
    };
  },
};

const URL_FORM = /^(?:https?|tcp|tls):\/\/([^/?#]*)([^#]*)/i;

/**
 * The endpoint that a URL names. A URL without a path of its own leaves path and query to the request; with one,
 * that is what the endpoint is asked for.
 */
function readTarget(url: string, { request }: Activation, compiling: Compiling): InternalTarget | Failure {
  const { context, failure } = compiling;
  const parts = URL_FORM.exec(encodeUrl(url));
  const host = parts === null ? undefined : parseAuthority(parts[1]!)?.host;
  if (host === undefined || !host.endsWith('.internal')) {
    return failure(FAILURES.action, `'${url}' is not the URL of an internal endpoint`);
  }
  if (!context.isInternal(host)) return failure(FAILURES.action, `there is no internal endpoint '${host}'`);
  const own = parts![2]!;
  if (own === '' || own === '/') return { host, path: request.path, query: request.query };
  const target = parseTarget(own.startsWith('/') ? own : `/${own}`);
  if ('problem' in target) return failure(FAILURES.action, `'${url}': ${target.problem}`);
  return { host, path: target.path, query: target.query };
}
