import { INT, STRING, headerMap, list } from '../../cel/types.ts';
import { ERROR, error, record, resultOf } from '../result_types.ts';
import type { Filter } from '../facts.ts';
import type { HttpRequestConfig } from './action_schema.ts';

export const messages = {
  answered: 'the request of the policy was answered',
  failed: 'the request of the policy failed, and the action is set to continue',
};

export const numbers = {
  tooLargeResponse: {
    number: 3601,
    title: 'Response of http-request too large',
    means: 'The response exceeds the size limit of http-request.',
  },
  timeout: {
    number: 3602,
    title: 'http-request timed out',
    means: 'No attempt succeeded within the timeout.',
  },
  loop: { number: 3603, title: 'Loop of http-requests', means: 'Requests of policies form a loop.' },
};

const ATTEMPT = record('HttpAttempt', {
  resolved_ip: [STRING, 'Dialled address.', 'optional'],
  response_header: [headerMap(), 'Header of the response.', 'optional'],
  response_status_code: [INT, 'Status of the response.', 'optional'],
  response_time_ms: [STRING, 'Milliseconds until the response, in digits.', 'optional'],
  error: [ERROR, 'Why there is no response.', 'optional'],
});
const SUBREQUEST = record('HttpSubrequest', {
  method: [STRING, 'Method.'],
  header: [headerMap(), 'Header.'],
  url: [STRING, 'URL.'],
  body: [STRING, 'Body.'],
});
const SUBRESPONSE = record('HttpSubresponse', {
  resolved_ip: [STRING, 'Dialled address.'],
  header: [headerMap(), 'Header.'],
  status_code: [INT, 'Status.'],
  time_ms: [STRING, 'Milliseconds until the response, in digits.'],
  body: [STRING, 'Body.'],
});

/** `last_attempt` of a retry condition. */
export const LAST_ATTEMPT = record('LastAttempt', {
  req: [SUBREQUEST, 'The request that was sent.'],
  res: [SUBRESPONSE, 'Its response, if there was one.', 'optional'],
  error: [ERROR, 'Why it has no response.', 'optional'],
});

export const httpRequest = {
  numbers,
  action: {
    type: 'http-request',
    phases: ['on_http_request', 'on_http_response'],
    ends: { when: 'never', how: [] },
    result: resultOf('http_request', 'The control request and its response.', {
      attempts: [list(ATTEMPT), 'All attempts, in order.'],
      req: [SUBREQUEST, 'The request that was sent last.'],
      res: [SUBRESPONSE, 'Its response, if there was one.', 'optional'],
      error,
    }),
    leavesRequest: false,
    guards: true,
    reads: ['outside', 'clock'],
    costNs: 80,
    reasons: messages,
    examples: {
      good: [{ url: 'https://auth.test/check', timeout: '2s' }],
      bad: [{ config: { url: 'https://auth.test/check', timeout: '5m' }, finding: 2225 }],
    },
  },
} satisfies Filter<never, HttpRequestConfig>;
