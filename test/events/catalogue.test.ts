import { describe, expect, it } from 'vitest';
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

const FILTERABLE = ['conn.client_ip', 'conn.server_ip', 'conn.server_name', 'conn.server_port'];

// table: fields of traffic events that no filter reads
const OTHERS: Readonly<Record<string, string>> = {
  'http_request_complete.v0': `backend.connection_reused basic_auth.decision basic_auth.username
    circuit_breaker.decision compression.algorithm compression.bytes_saved conn.start_ts http.request.body_length
    http.request.headers http.request.method http.request.url.host http.request.url.path http.request.url.query
    http.request.url.raw http.request.url.scheme http.request.user_agent http.response.body_length
    http.response.headers http.response.status_code ip_policy.decision oauth.app_client_id oauth.decision
    oauth.user.id oauth.user.name tls.cipher_suite tls.client_cert.serial_number tls.client_cert.subject.cn
    tls.version traffic_policy.logs webhook_verification.decision`,
  'tcp_connection_closed.v0': `conn.bytes_in conn.bytes_out conn.end_ts conn.start_ts ip_policy.decision
    traffic_policy.logs`,
};

describe('the catalogue', () => {
  it('has every audit event, and the starts and stops of agents', () => {
    const types = AUDITED.flatMap((object) =>
      ['created', 'updated', 'deleted'].map((action) => `${object}_${action}.v0`),
    );
    for (const type of [...types, 'agent_session_start.v0', 'agent_session_stop.v0'])
      expect([type, sourceProblem({ type })]).toEqual([type, null]);
    for (const type of ['api_key_created', 'api_key_created.v1', 'nothing_created.v0', ''])
      expect([type, sourceProblem({ type })?.number]).toEqual([type, 238]);
  });

  it.each(Object.entries(OTHERS))('%s: every field is selected, those marked are filtered', (type, text) => {
    const others = text.split(/\s+/);
    expect(sourceProblem({ type, fields: [...FILTERABLE, ...others] })).toBeNull();
    for (const field of FILTERABLE)
      expect([field, sourceProblem({ type, filter: `ev.${field} == ev.${field}` })]).toEqual([field, null]);
    for (const field of others) {
      const problem = sourceProblem({ type, filter: `ev.${field} == ev.${field}` });
      expect([field, problem?.number]).toEqual([field, 5406]);
    }
  });
});
