import { describe, expect, it } from 'vitest';
import { createEdge } from '../../src/edgeproof.ts';
import { allValues } from '../../src/http/fields.ts';
import { createSimulator } from '../../src/simulator/create_simulator.ts';
import { ISSUER } from '../auth/gate_edge.ts';

/** What reaches an upstream behind `forward-internal`: the edits of each edge, whatever fields the client sends. */

const gate = { issuer_url: ISSUER, client_id: 'edge', client_secret: 's3cret' };
const LOGIN = { type: 'openid-connect', config: { ...gate, auth_id: 'policy' } };
const LOGIN_MODULE = { oidc: { issuer: ISSUER, client_id: 'edge', client_secret: 's3cret' } };
const toInner = { type: 'forward-internal', config: { url: 'https://inner.internal' } };
const policy = (...rules: readonly object[]) => ({
  traffic_policy: { value: JSON.stringify({ on_http_request: rules }) },
});

function simulating(front: object, inner: object = {}, more: object = {}) {
  const route = { match_type: 'path_prefix', match: '/' };
  const simulator = createSimulator(
    createEdge({
      ...more,
      backends: { app: { static: { address: 'localhost:3000' } } },
      edges: {
        https: {
          front: { hostports: ['shop.test:443'], routes: [{ ...route, ...front }] },
          inner: {
            hostports: ['inner.internal:443'],
            routes: [{ ...route, ...inner, backend: { backend_id: 'app' } }],
          },
        },
      },
    }),
  );
  simulator.identity('alice', { email: 'alice@acme.test', name: 'Alice' });
  return simulator;
}

const BOSS = {
  expressions: [
    "'service-auth-user-email' in req.headers && req.headers['service-auth-user-email'][0] == 'boss@acme.test'",
  ],
  actions: [{ type: 'custom-response', config: { status_code: 200, body: 'secret' } }],
};
const DENY = { actions: [{ type: 'deny', config: { status_code: 403 } }] };

describe('fields behind forward-internal', () => {
  it('expressions of the inner edge see no identity of a client', () => {
    const simulator = simulating(policy({ actions: [toInner] }), policy(BOSS, DENY));
    const headers = {
      'service-auth-user-email': 'boss@acme.test',
      service_auth_user_email: 'boss@acme.test',
    };
    expect(simulator.send({ path: '/', headers }).status).toBe(403);
  });

  it('the identity of a login reaches the inner edge and its upstream', () => {
    const alice = {
      ...BOSS,
      expressions: [BOSS.expressions[0]!.replace('boss', 'alice')],
      actions: DENY.actions,
    };
    const passing = simulating(policy({ actions: [LOGIN, toInner] }));
    const headers = { 'service-auth-user-email': 'boss@acme.test', connection: 'service-auth-user-email' };
    const { upstream } = passing.send({ path: '/', as: 'alice', headers });
    expect(allValues(upstream!.request.headers, 'service-auth-user-email')).toEqual(['alice@acme.test']);
    const denying = simulating(policy({ actions: [LOGIN, toInner] }), policy(alice));
    expect(denying.send({ path: '/', as: 'alice' }).status).toBe(403);
  });

  it.each([
    ['a gate of the inner edge', policy({ actions: [LOGIN, toInner] }), LOGIN_MODULE],
    ['a policy', { ...LOGIN_MODULE, ...policy({ actions: [LOGIN, toInner] }) }, {}],
  ])('%s replaces the identity of the gate before it', (_name, front, inner) => {
    const { status, upstream } = simulating(front, inner).send({ path: '/', as: 'alice' });
    expect(status).toBe(200);
    expect(allValues(upstream!.request.headers, 'service-auth-user-email')).toEqual(['alice@acme.test']);
  });

  it('a client cannot remove a field of the outer edge with Connection', () => {
    const add = { type: 'add-headers', config: { headers: { 'x-role': 'guest' } } };
    const simulator = simulating(policy({ actions: [add, toInner] }));
    const headers = { connection: 'x-role', 'x-role': 'admin' };
    const { upstream } = simulator.send({ path: '/', headers });
    expect(allValues(upstream!.request.headers, 'x-role')).toEqual(['guest']);
  });

  it('look-alikes of fields that the outer edge decides on are dropped', () => {
    const remove = { type: 'remove-headers', config: { headers: ['x-role'] } };
    const simulator = simulating(policy({ actions: [remove, toInner] }), {}, { underscore_headers: 'pass' });
    const { upstream } = simulator.send({ path: '/', headers: { x_role: 'admin', x_other: 'kept' } });
    expect(upstream!.request.headers).not.toContain('admin');
    expect(upstream!.request.headers).toContain('kept');
  });

  it.each(['drop', 'pass'])(
    'look-alikes with other characters are dropped, too: underscores %s',
    (underscores) => {
      const edits = { request_headers: { remove: ['x-role'], add: { 'x-tenant': 'a' } } };
      const simulator = simulating(policy({ actions: [toInner] }), edits, {
        underscore_headers: underscores,
      });
      const headers = { 'x.role': 'forged', 'X~Tenant': 'forged', 'x.other': 'kept' };
      const { upstream } = simulator.send({ path: '/', headers });
      expect(upstream!.request.headers).not.toContain('forged');
      expect(upstream!.request.headers).toContain('kept');
    },
  );
});
