import { expect, test } from 'vitest';
import { brandingOf } from '../../src/engine/branding.ts';
import { endingsOf } from '../../src/coverage/policy_facts.ts';
import { checkPolicyValue } from '../../src/policy/document/check.ts';

const branding = brandingOf('service');

function checked(...actions: readonly object[]) {
  const { document, diagnostics } = checkPolicyValue({ on_http_request: [{ actions }] }, { branding });
  return {
    action: document?.phases.on_http_request[0]!.actions[0],
    codes: diagnostics.map(({ code }) => code),
  };
}

const forward = (onError: string) => ({
  type: 'forward-internal',
  config: { url: 'https://a.internal', on_error: onError },
});

test('the check and coverage agree on when a forward ends the phase', () => {
  expect(checked(forward('halt'), { type: 'deny' }).codes).toEqual(['ERR_SERVICE_2207']);
  expect(checked(forward('continue'), { type: 'deny' }).codes).toEqual([]);
  expect(endingsOf(checked(forward('halt')).action!)).toMatchObject({ always: true });
  expect(endingsOf(checked(forward('continue')).action!)).toMatchObject({ always: false });
});

test('an action that only reports and a subrequest do not end the phase', () => {
  const limit = {
    name: 'a',
    algorithm: 'sliding_window',
    capacity: 1,
    rate: '1m',
    bucket_key: ['conn.client_ip'],
  };
  const ends = (type: string, config: object) => [...endingsOf(checked({ type, config }).action!).codes];
  expect(ends('rate-limit', limit)).toEqual(['traffic_policy.denied']);
  expect(ends('rate-limit', { ...limit, enforce: false })).toEqual([]);
  expect(ends('http-request', { url: 'https://a.test/', on_error: 'halt' })).toEqual([]);
});

test.each(['circuit_breaker', 'forward_internal'])(
  'use of a result of %s before the action runs is reported',
  (name) => {
    const rule = { expressions: [`actions.service.${name}.error.code == ''`], actions: [{ type: 'deny' }] };
    const { diagnostics } = checkPolicyValue({ on_http_request: [rule] }, { branding });
    expect(diagnostics.map(({ code }) => code)).toContain('policy.not_yet_set');
  },
);
