import { BOOL, STRING } from '../../cel/types.ts';
import { error, record, resultOf } from '../result_types.ts';
import { type Filter, whenEnforced } from '../facts.ts';
import type { BasicAuthConfig } from './action_schema.ts';

export const messages = {
  authorized: 'the presented credentials are among the configured ones',
  missing: 'the request presents no credentials',
  refused: 'the presented credentials are not among the configured ones',
};

const CREDENTIALS = record('Credentials', {
  presented: [BOOL, 'Whether the request has credentials.'],
  username: [STRING, 'User name of the credentials.', 'optional'],
  authorized: [BOOL, 'Whether they are among the configured ones.'],
});

export const basicAuth = {
  action: {
    type: 'basic-auth',
    phases: ['on_http_request'],
    ends: { when: whenEnforced, how: ['denied'] },
    result: resultOf('basic_auth', 'Result of basic authentication.', {
      credentials: [CREDENTIALS, 'The credentials of the request.'],
      error,
    }),
    leavesRequest: true,
    guards: true,
    secrets: ['/credentials/*'],
    reads: [{ header: 'authorization' }],
    samples: ({ credentials }) => {
      const known = credentials.filter((each) => typeof each === 'string');
      return {
        headers: { authorization: [...known, 'nobody:nothing'].map((each) => `Basic ${btoa(each)}`) },
      };
    },
    costNs: 1500,
    reasons: messages,
    examples: {
      good: [{ credentials: ["ann:${secrets.get('shop', 'ann')}"] }],
      bad: [{ config: { credentials: ['ann'] }, finding: 2204 }],
    },
  },
} satisfies Filter<never, BasicAuthConfig>;
