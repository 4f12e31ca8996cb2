import type { Body, Resource } from './contract.ts';

/** Replaces a secret; `place` is its path: `/oauth/provider/google/client_secret`. */
export type SecretChange = (value: unknown, place: string) => unknown;

/** An object's values with every secret replaced; the same value if it has none. */
export function withSecrets({ fields }: Resource, body: Body, change: SecretChange): Body {
  const changes: Record<string, unknown> = {};
  for (const [name, { secrets = [] }] of Object.entries(fields)) {
    if (secrets.length === 0 || !Object.hasOwn(body, name)) continue;
    const value = secrets.reduce<unknown>(
      (whole, path) => below(whole, path.split('/').slice(1), `/${name}`, change),
      body[name],
    );
    if (value !== body[name]) changes[name] = value;
  }
  return Object.keys(changes).length === 0 ? body : { ...body, ...changes };
}

/** An object's values without secrets. */
export function withoutSecrets(resource: Resource, body: Body): Body {
  return withSecrets(resource, body, () => '');
}

/** Replaces the value at a path, in which `*` means every key. */
function below(value: unknown, path: readonly string[], place: string, change: SecretChange): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return change(value, place);
  if (typeof value !== 'object' || value === null) return value;
  const changes: Record<string, unknown> = {};
  const keys = key === '*' ? Object.keys(value) : Object.hasOwn(value, key) ? [key] : [];
  for (const name of keys) {
    const each = (value as Body)[name];
    const next = below(each, rest, `${place}/${name}`, change);
    if (next !== each) changes[name] = next;
  }
  return Object.keys(changes).length === 0 ? value : { ...value, ...changes };
}
