import { type ActionKind, stepsOf } from '../action.ts';
import { tlsVersionNumber } from '../../engine/connection.ts';
import { keepResult } from '../policy_run.ts';
import { messages } from './facts.ts';

const NO_RESPONSE = { status: 0, headers: [], body: '' };

/**
 * Exposes the facts of the TLS session. The listener does the handshake; here its facts become results, and a
 * session with a version that the policy does not allow is closed.
 */
export const terminateTls: ActionKind<'terminate-tls'> = {
  type: 'terminate-tls',
  compile: ({ type, config }, compiling) => {
    const step = stepsOf(type, messages, compiling.pointer);
    const noTls = { verdict: 'pass', step: step('no_tls') } as const;
    return {
      run: (policyRun) => {
        const { tls } = policyRun.connection;
        if (tls === null) return noTls;
        const { version, cipherSuite, clientCertificate } = tls;
        const client = clientCertificate === null ? {} : { client: clientCertificate };
        keepResult(policyRun, 'terminate_tls', { cipher_suite: cipherSuite, version, ...client });
        const number = tlsVersionNumber(version);
        const isAllowed = Number(config.min_version) <= number && number <= Number(config.max_version);
        if (isAllowed) return { verdict: 'pass', step: step('terminated', { version }) };
        return { verdict: 'stop', as: 'closed', step: step('version', { version }), response: NO_RESPONSE };
      },
    };
  },
};
