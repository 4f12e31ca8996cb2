import { newSshKey } from '../../src/crypto/ssh_keys.ts';
import type { Instance } from './instance.ts';
import { someAuthority } from './certificates.ts';

/** How to make an object of a resource, and how to change it. Numbers make samples differ from each other. */
export interface Sample {
  readonly create: (
    instance: Instance,
    number: number,
  ) => Promise<Record<string, unknown>> | Record<string, unknown>;
  readonly update: Record<string, unknown>;
  /** Whether more than a hundred can be made. */
  readonly once?: boolean;
}

const metadata = { metadata: 'changed' };
const noted = (number: number) => ({ description: `number ${number}`, metadata: `{"n":${number}}` });

async function idOf(instance: Instance, path: string, body: unknown): Promise<string> {
  return (await instance.make(path, body)).id as string;
}

const known = new WeakMap<Instance, Map<string, Promise<string>>>();

/** An object that samples refer to, made once an instance. */
export function once(instance: Instance, path: string, body: unknown): Promise<string> {
  let made = known.get(instance);
  if (made === undefined) known.set(instance, (made = new Map()));
  let id = made.get(path);
  if (id === undefined) made.set(path, (id = idOf(instance, path, body)));
  return id;
}

const SSH_KEY = (await newSshKey({ type: 'ed25519' })).publicKey;

const DENY = '{"on_http_request":[{"actions":[{"type":"deny"}]}]}';
const ENDPOINT = { type: 'cloud', url: 'https://gateway.test', traffic_policy: DENY };

// table: samples by kind
export const SAMPLES: Readonly<Record<string, Sample>> = {
  api_key: { create: (_, number) => noted(number), update: metadata },
  bot_user: { create: (_, number) => ({ name: `bot ${number}` }), update: { active: false } },
  service_user: { create: (_, number) => ({ name: `service ${number}` }), update: { active: false } },
  agent_ingress: {
    create: (_, number) => ({ ...noted(number), domain: `in${number}.test` }),
    update: metadata,
  },
  kubernetes_operator: {
    create: (_, number) => ({
      ...noted(number),
      enabled_features: ['bindings'],
      deployment: { name: 'operator', namespace: 'default', version: '1' },
      binding: { endpoint_selectors: ['true'] },
    }),
    update: { deployment: { version: '2' } },
  },
  ai_gateway_api_key: {
    create: async (instance, number) => ({
      ...noted(number),
      endpoint_id: await once(instance, '/endpoints', ENDPOINT),
    }),
    update: metadata,
  },
  abuse_report: {
    create: (_, number) => ({ metadata: `{"n":${number}}`, urls: [`https://h${number}.test/x`] }),
    update: {},
  },
  tunnel_credential: {
    create: (_, number) => ({ ...noted(number), acl: ['bind:a.test'] }),
    update: metadata,
  },
  ssh_public_key: {
    create: async (_, number) => ({
      ...noted(number),
      acl: ['bind:*.a.test', 'bind:app=*'],
      public_key: (await newSshKey({ type: 'ed25519' })).publicKey,
    }),
    update: { acl: ['*'] },
  },
  ssh_certificate_authority: { create: (_, number) => noted(number), update: metadata },
  ssh_host_certificate: {
    create: async (instance, number) => ({
      ...noted(number),
      ssh_certificate_authority_id: await once(instance, '/ssh_certificate_authorities', {}),
      public_key: SSH_KEY,
      principals: [`h${number}.test`],
    }),
    update: metadata,
  },
  ssh_user_certificate: {
    create: async (instance, number) => ({
      ...noted(number),
      ssh_certificate_authority_id: await once(instance, '/ssh_certificate_authorities', {}),
      public_key: SSH_KEY,
      principals: [`user${number}`],
      critical_options: { 'source-address': '192.0.2.0/24' },
    }),
    update: metadata,
  },
  certificate_authority: {
    create: (_, number) => ({ ...noted(number), ca_pem: someAuthority().pem }),
    update: metadata,
  },
  tls_certificate: {
    create: (_, number) => ({
      ...noted(number),
      certificate_pem: someAuthority().pem,
      private_key_pem: someAuthority().key,
    }),
    update: metadata,
  },
  ip_policy: { create: (_, number) => noted(number), update: metadata },
  ip_policy_rule: {
    create: async (instance, number) => ({
      ...noted(number),
      cidr: `10.${number >> 8}.${number & 255}.0/24`,
      ip_policy_id: await once(instance, '/ip_policies', {}),
      action: 'deny',
    }),
    update: { cidr: '192.0.2.0/24' },
  },
  ip_restriction: {
    create: async (instance) => ({
      type: 'dashboard',
      ip_policy_ids: [await once(instance, '/ip_policies', {})],
    }),
    update: metadata,
    once: true,
  },
  weighted_backend: {
    create: async (instance, number) => ({
      ...noted(number),
      backends: { [await once(instance, '/backends/http_response', { body: 'x' })]: number },
    }),
    update: metadata,
  },
  failover_backend: {
    create: async (instance, number) => ({
      ...noted(number),
      backends: [await once(instance, '/backends/http_response', { body: 'x' })],
    }),
    update: metadata,
  },
  static_backend: {
    create: (_, number) => ({ ...noted(number), address: `localhost:${3000 + number}` }),
    update: { tls: { enabled: true } },
  },
  http_response_backend: {
    create: (_, number) => ({
      ...noted(number),
      status_code: 200 + number,
      body: 'hello',
      headers: { 'x-a': 'b' },
    }),
    update: { body: 'changed' },
  },
  tunnel_group_backend: {
    create: (_, number) => ({ ...noted(number), labels: { app: `a${number}` } }),
    update: metadata,
  },
  https_edge: {
    create: (_, number) => ({ ...noted(number), hostports: [`h${number}.test:443`] }),
    update: metadata,
  },
  https_edge_route: {
    create: async (instance, number) => ({
      ...noted(number),
      match_type: 'path_prefix',
      match: `/r${number}`,
      backend: { backend_id: await once(instance, '/backends/http_response', { body: 'x' }) },
    }),
    update: metadata,
  },
  tcp_edge: {
    create: (_, number) => ({ ...noted(number), hostports: [`t${number}.test:2222`] }),
    update: metadata,
  },
  tls_edge: {
    create: (_, number) => ({ ...noted(number), hostports: [`s${number}.test:443`] }),
    update: metadata,
  },
  endpoint: {
    create: (_, number) => ({
      ...noted(number),
      url: `https://e${number}.test`,
      type: 'cloud',
      traffic_policy: '{"on_http_request":[{"actions":[{"type":"deny"}]}]}',
    }),
    update: metadata,
  },
  event_destination: {
    create: (_, number) => ({
      ...noted(number),
      format: 'json',
      target: { file: { name: `events-${number}.ndjson` } },
    }),
    update: metadata,
  },
  event_subscription: {
    create: async (instance, number) => ({
      ...noted(number),
      sources: [{ type: 'vault_created.v0' }],
      destination_ids: [
        await once(instance, '/event_destinations', {
          target: { file: { name: 'subscribed.ndjson' } },
        }),
      ],
    }),
    update: metadata,
  },
  domain: { create: (_, number) => ({ ...noted(number), domain: `d${number}.test` }), update: metadata },
  tcp_address: { create: (_, number) => noted(number), update: metadata },
  vault: { create: (_, number) => ({ ...noted(number), name: `vault${number}` }), update: metadata },
  secret: {
    create: async (instance, number) => ({
      ...noted(number),
      name: `secret${number}`,
      value: 'sesame',
      vault_id: await once(instance, '/vaults', { name: 'for-secrets' }),
    }),
    update: { value: 'changed' },
  },
};
