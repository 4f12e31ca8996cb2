import type { ActionKind } from '../../action.ts';
import { stepsOf } from '../../action.ts';
import { keepResult } from '../../walk.ts';

const NO_RESPONSE = { status: 0, headers: [], body: '' };

/**
 * Says what is known of the TLS session. The handshake itself is the listener's: here its facts become results,
 * and a session of a version that the policy does not want is closed.
 */
export const terminateTls: ActionKind<'terminate-tls'> = {
  type: 'terminate-tls',
  says: {
    terminated: 'the TLS session is as the policy wants it',
    no_tls: 'the connection has no TLS, so there is nothing to end',
    version: 'the TLS version of the session is not allowed',
  },
  compile: ({ type, config }, compiling) => {
    const step = stepsOf(type, terminateTls.says, compiling.pointer);
    const noTls = { does: 'next', step: step('no_tls') } as const;
    return {
      run: (walk) => {
        const { tls } = walk.connection;
        if (tls === null) return noTls;
        const { version, cipherSuite, clientCertificate } = tls;
        const client = clientCertificate === null ? {} : { client: clientCertificate };
        keepResult(walk, 'terminate_tls', { cipher_suite: cipherSuite, version, ...client });
        const number = numberOf(version);
        const isAllowed = Number(config.min_version) <= number && number <= Number(config.max_version);
        if (isAllowed) return { does: 'next', step: step('terminated', { version }) };
        return { does: 'end', as: 'closed', step: step('version', { version }), response: NO_RESPONSE };
      },
    };
  },
};

/** `1.3` of `TLSv1.3` or `1.3`; `TLSv1` is 1.0. */
function numberOf(version: string): number {
  return Number(/\d+(?:\.\d+)?/.exec(version)?.[0] ?? 0);
}
