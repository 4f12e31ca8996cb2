import { type ActionKind, type Ends, stepsOf } from '../action.ts';
import { tlsVersionNumber } from '../../engine/connection.ts';
import { certificateProblem, requiring } from '../client_authorities.ts';
import { keepResult } from '../policy_run.ts';
import { messages, requiredAuthorities } from './facts.ts';

const NO_RESPONSE = { status: 0, headers: [], body: '' };

/**
 * Exposes the facts of the TLS session. The listener does the handshake; here its facts become results, and a
 * session is closed if the policy does not allow its version, or requires a client certificate that it lacks.
 */
export const terminateTls: ActionKind<'terminate-tls'> = {
  type: 'terminate-tls',
  compile: ({ type, config }, compiling) => {
    const step = stepsOf(type, messages, compiling.pointer);
    const authorities = requiredAuthorities(config, compiling.context.authorityPem ?? (() => ''));
    const required = authorities && requiring(authorities);
    const close = (why: keyof typeof messages, version: string): Ends => ({
      verdict: 'stop',
      as: 'closed',
      step: step(why, { version }),
      response: NO_RESPONSE,
    });
    const noTls =
      required === null ? ({ verdict: 'pass', step: step('no_tls') } as const) : close('no_certificate', '');
    return {
      run: (policyRun) => {
        const { tls } = policyRun.connection;
        if (tls === null) return noTls;
        const { version, cipherSuite, clientCertificate } = tls;
        const client = clientCertificate === null ? {} : { client: clientCertificate };
        keepResult(policyRun, 'terminate_tls', { cipher_suite: cipherSuite, version, ...client });
        const number = tlsVersionNumber(version);
        const isAllowed = Number(config.min_version) <= number && number <= Number(config.max_version);
        const problem = isAllowed
          ? required && certificateProblem(tls, required, policyRun.world.nowMs())
          : 'version';
        if (problem !== null) return close(problem, version);
        return { verdict: 'pass', step: step('terminated', { version }) };
      },
    };
  },
};
