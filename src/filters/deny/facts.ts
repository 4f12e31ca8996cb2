import { removal } from '../../diagnostics/meant.ts';
import type { Filter } from '../facts.ts';
import type { ActionPlace } from '../fact_values.ts';
import type { DenyConfig } from './action_schema.ts';

export const messages = { denied: 'the request is denied', closed: 'the connection is denied' };

export const deny = {
  action: {
    type: 'deny',
    fieldHints: { body: 'custom-response has a body: use it with a status_code such as 403' },
    phases: ['on_tcp_connect', 'on_http_request'],
    ends: { when: 'always', how: ['denied'] },
    result: null,
    leavesRequest: true,
    speaksOnly: true,
    guards: true,
    alsoCalled: ['block', 'reject'],
    cannotHappen: (code, _config, edgeKind) =>
      (code === 'closed') === (edgeKind === 'https')
        ? `this only happens for connections ${edgeKind === 'https' ? 'without' : 'with'} HTTP`
        : null,
    reads: [],
    costNs: 80,
    check: ({ status_code: status }, report, { phase, isWritten }: ActionPlace) => {
      const at = '/status_code';
      if (phase !== 'on_tcp_connect' || status === undefined || !isWritten(at)) return;
      const message = 'a connection has no status: in on_tcp_connect deny closes it';
      report('policy.no_effect', at, message, {
        at: 'key',
        hint: 'remove status_code',
        fix: removal(true),
      });
    },
    reasons: messages,
    examples: {
      good: [{ status_code: 404 }],
      bad: [{ config: { status_code: 200 }, finding: 2215 }],
    },
  },
} satisfies Filter<never, DenyConfig>;
