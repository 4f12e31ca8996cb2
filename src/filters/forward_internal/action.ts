import type { InternalAddress, InternalTarget } from '../../engine/contract.ts';
import { parseAuthority } from '../../http/host.ts';
import { encodeUrl } from '../url_rewrite/algorithm.ts';
import { parseTarget } from '../../http/target.ts';
import type { Activation } from '../../policy/env/activation.ts';
import { type ActionKind, type Compiling, stepsOf } from '../action.ts';
import type { Template } from '../evaluators.ts';
import { FAILURES, Failure } from '../failure.ts';
import { keepResult } from '../policy_run.ts';
import { messages, numbers } from './facts.ts';

/** Forwards a request or a connection to an internal endpoint of the same configuration. */
export const forwardInternal: ActionKind<'forward-internal'> = {
  type: 'forward-internal',
  compile: ({ type, config }, compiling) => {
    const url = compiling.template(config.url, '/url');
    const { context, failure } = compiling;
    const message = 'This version cannot forward to internal endpoints here';
    const response = context.refusal(501, null, message);
    const read = compiling.phase === 'on_tcp_connect' ? readAddress : readTarget;
    const step = stepsOf(type, messages, compiling.pointer);
    return {
      onFailure:
        config.on_error === 'halt'
          ? null
          : { result: 'forward_internal', base: (activation) => ({ url: textFor(url, activation) }) },
      run: (policyRun) => {
        const text = url.text(policyRun.activation);
        if (text instanceof Failure) return text;
        const target = read(text.trim(), policyRun.activation, compiling);
        if (target instanceof Failure) return target;
        if ((policyRun.connection.hops ?? 0) >= HOP_LIMIT) {
          return failure(numbers.hops.number, `it was already forwarded ${HOP_LIMIT} times`);
        }
        keepResult(policyRun, 'forward_internal', { url: text.trim() });
        return {
          verdict: 'stop',
          as: 'forwarded',
          step: step('forwarded', { host: target.host }),
          response,
          target,
        };
      },
    };
  },
};

/** Empty if the URL itself has no value. */
function textFor(url: Template, activation: Activation): string {
  const text = url.text(activation);
  return text instanceof Failure ? '' : text.trim();
}

const REQUEST_URL = /^https?:\/\/([^/?#]*)([^#]*)/i;
const CONNECTION_URL = /^(tls|tcp):\/\/([^/?#]*)\/?$/i;
const TLS_PORT = 443;

/** The TLS or TCP endpoint of a URL; the default port of TLS is 443. */
function readAddress(url: string, _activation: Activation, compiling: Compiling): InternalAddress | Failure {
  const { context, failure } = compiling;
  const parts = CONNECTION_URL.exec(encodeUrl(url));
  const kind = parts?.[1]!.toLowerCase() as InternalAddress['kind'] | undefined;
  const { host, port = kind === 'tls' ? TLS_PORT : undefined } = parseAuthority(parts?.[2] ?? '') ?? {};
  if (kind === undefined || host === undefined || port === undefined) {
    const message = `'${url}' is not the URL of an internal TLS endpoint, or of a TCP endpoint with its port`;
    return failure(FAILURES.action, message);
  }
  const address = { kind, host, port };
  if (context.isInternalAddress(address)) return address;
  return failure(FAILURES.action, `the internal endpoint '${kind}://${host}:${port}' does not exist`);
}

/**
 * The HTTPS endpoint of a URL. If the URL has no path, the request keeps its path and query; otherwise it gets those
 * of the URL.
 */
function readTarget(url: string, { request }: Activation, compiling: Compiling): InternalTarget | Failure {
  const { context, failure } = compiling;
  const parts = REQUEST_URL.exec(encodeUrl(url));
  const host = parts === null ? undefined : parseAuthority(parts[1]!)?.host;
  if (host === undefined || !host.endsWith('.internal')) {
    return failure(FAILURES.action, `'${url}' is not the URL of an internal endpoint`);
  }
  if (!context.isInternal(host))
    return failure(FAILURES.action, `the internal endpoint '${host}' does not exist`);
  const own = parts![2]!;
  if (own === '' || own === '/') return { host, path: request.path, query: request.query };
  const target = parseTarget(own.startsWith('/') ? own : `/${own}`);
  if ('problem' in target) return failure(FAILURES.action, `'${url}': ${target.problem}`);
  return { host, path: target.path, query: target.query };
}

/** Maximum number of forwards inside the edge; one more is treated as a loop. */
const HOP_LIMIT = 8;
