import { describe, expect, it } from 'vitest';
import { TRAFFIC_EVENTS, type TrafficType, fieldsOf } from '../../src/events/fields.ts';
import { sourceProblem } from '../../src/events/sources.ts';

/** The catalogue of the specification: what a subscription can be triggered by, and what can be selected of it. */

const AUDITED = [
  'api_key',
  'certificate_authority',
  'domain',
  'event_destination',
  'event_subscription',
  'ip_policy',
  'ip_policy_rule',
  'ip_restriction',
  'ssh_certificate_authority',
  'ssh_host_certificate',
  'ssh_public_key',
  'ssh_user_certificate',
  'tcp_address',
  'tls_certificate',
  'tunnel_credential',
];

describe('the catalogue', () => {
  it('has every audit event and the starts and stops of agents', () => {
    const types = AUDITED.flatMap((object) =>
      ['created', 'updated', 'deleted'].map((action) => `${object}_${action}.v0`),
    );
    for (const type of [...types, 'agent_session_start.v0', 'agent_session_stop.v0'])
      expect([type, sourceProblem({ type })]).toEqual([type, null]);
    for (const type of ['api_key_created', 'api_key_created.v1', 'nothing_created.v0', ''])
      expect([type, sourceProblem({ type })?.number]).toEqual([type, 238]);
  });

  it.each(Object.keys(TRAFFIC_EVENTS) as TrafficType[])(
    '%s: every field can be selected, the marked ones filtered',
    (type) => {
      const rows = fieldsOf(type);
      expect(sourceProblem({ type, fields: rows.map(([path]) => path) })).toBeNull();
      for (const [path, { filterable }] of rows) {
        const problem = sourceProblem({ type, filter: `ev.${path} == ev.${path}` });
        expect([path, problem?.number]).toEqual([path, filterable === true ? undefined : 5406]);
      }
    },
  );
});
