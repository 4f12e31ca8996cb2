import { describe, expect, it } from 'vitest';
import { ACTION_SCHEMAS } from '../../src/filters/action_schemas.ts';
import { ACTION_FACTS } from '../../src/filters/table.ts';
import { configSecrets, credentialNames } from '../../src/replay/config_secrets.ts';
import { checked, configOf, policyOf } from './edges.ts';

const secretsIn = (modules: Readonly<Record<string, unknown>>) => configSecrets(checked(configOf(modules)));

describe('secrets of a configuration', () => {
  it('are those of modules', () => {
    const webhook = { webhook_verification: { provider: 'github', secret: 'webhook secret' } };
    expect(secretsIn(webhook)).toEqual(['webhook secret']);
    const github = { client_id: 'a', client_secret: 'the secret of the app' };
    expect(secretsIn({ oauth: { provider: { github } } })).toEqual(['the secret of the app']);
  });

  it('are those of actions, in any form of the policy', () => {
    const credentials = ['ann:password-of-ann'];
    const found = ['ann:password-of-ann', 'password-of-ann'];
    expect(secretsIn(policyOf([{ actions: [{ type: 'basic-auth', config: { credentials } }] }]))).toEqual(
      found,
    );
    const value =
      'on_http_request: [{ actions: [{ type: basic-auth, config: { credentials: ["ann:password-of-ann"] } }] }]';
    expect(secretsIn({ traffic_policy: { value } })).toEqual(found);
  });

  it('include data with a secret name', () => {
    const log = { type: 'log', config: { metadata: { token: 'made-up-token', lane: 'blue-lane' } } };
    expect(secretsIn(policyOf([{ actions: [log] }]))).toEqual(['made-up-token']);
  });

  it('are also sent by clients, in fields and members that an action reads', () => {
    const token = { type: 'jwt', prefix: '' };
    const tokens = [
      { ...token, method: 'header', name: 'X-Token' },
      { ...token, method: 'body', name: 'pass' },
      { ...token, method: 'header', name: "${req.headers['x-name'][0]}" },
    ];
    const config = {
      issuer: { allow_list: [{ value: 'https://idp.test' }] },
      http: { tokens },
      jws: {
        allowed_algorithms: ['ES256'],
        keys: { sources: { additional_jkus: ['https://idp.test/keys'] } },
      },
    };
    const policy = policyOf([{ actions: [{ type: 'jwt-validation', config }] }]);
    expect(credentialNames(checked(configOf(policy)))).toEqual(['x-token', 'pass']);
  });

  it.each(Object.entries(ACTION_SCHEMAS))('are declared by the schema: %s', (type, schema) => {
    const marked = secretPaths(schema.toJSONSchema({ io: 'input' }) as Node);
    expect(ACTION_FACTS.get(type)!.secrets ?? []).toEqual(marked);
  });
});

interface Node {
  readonly secret?: boolean;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
}

/** Pointers to members that a schema marks as secret. */
function secretPaths({ secret, properties = {}, items }: Node): string[] {
  if (secret === true) return [''];
  const below = Object.entries(properties).flatMap(([name, node]) =>
    secretPaths(node).map((at) => `/${name}${at}`),
  );
  return [...below, ...(items === undefined ? [] : secretPaths(items).map((at) => `/*${at}`))];
}
