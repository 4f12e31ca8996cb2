import { type ValueChange, changedAt } from '../../edge/document/value_places.ts';
import type { Body, Resource } from './contract.ts';

/** An object's values with every secret replaced; the same value if it has none. */
export function withSecrets({ fields }: Resource, body: Body, change: ValueChange): Body {
  const changes: Record<string, unknown> = {};
  for (const [name, { secrets = [] }] of Object.entries(fields)) {
    if (secrets.length === 0 || !Object.hasOwn(body, name)) continue;
    const value = secrets.reduce<unknown>(
      (whole, path) => changedAt(whole, path, `/${name}`, change),
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
