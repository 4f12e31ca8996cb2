import { isBodylessStatus } from '../../http/bodyless.ts';
import type { Filter } from '../facts.ts';
import type { CustomResponseConfig } from './action_schema.ts';

export const messages = { answered: 'the policy responds' };

export const numbers = {
  bodyNotPermitted: {
    number: 3604,
    title: 'Body not permitted',
    means: 'The status of a custom response with a body does not allow one.',
  },
};

export const customResponse = {
  numbers,
  action: {
    type: 'custom-response',
    phases: ['on_http_request', 'on_http_response'],
    ends: { when: 'always', how: ['answered'] },
    result: null,
    leavesRequest: true,
    speaksOnly: true,
    guards: ({ status_code: status }) => typeof status !== 'number' || status >= 400,
    alsoCalled: ['respond', 'response'],
    reads: [],
    costNs: 80,
    warnings: {
      'policy.body_not_sent': {
        message: 'Responses with this status have no body.',
        cure: ['`custom-response` with status 204 and a body', 'Remove the body, or use another status'],
      },
      'policy.interim_status': {
        message: 'A status below 200 cannot end an exchange.',
        cure: ['`custom-response` with status 103', 'Use a status from 200'],
      },
    },
    check: ({ status_code: status, body }, report) => {
      if (typeof status !== 'number') return;
      if (status < 200) {
        const message = `${status} only announces a response (RFC 9110 §15.2)`;
        report('policy.interim_status', '/status_code', message);
      } else if (isBodylessStatus(status) && body !== undefined && body !== '') {
        const message = `a response of status ${status} has no body (RFC 9110 §15)`;
        report('policy.body_not_sent', '/body', message, { at: 'key' });
      }
    },
    reasons: messages,
    examples: {
      good: [{ status_code: 404, body: 'There is no such page' }],
      bad: [{ config: { status_code: 99 }, finding: 2215 }],
    },
  },
} satisfies Filter<never, CustomResponseConfig>;
