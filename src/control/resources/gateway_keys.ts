import * as z from 'zod';
import { token, withToken } from './accounts.ts';
import type { Completed, Draft } from './contract.ts';
import { derive, field, notes, refSchema, resource } from './fields.ts';
import { COMMON, refusedValue } from './problem.ts';
import { person, signed, updatedAt } from './vaults.ts';

const SHOWN_CHARACTERS = 4;

async function completeKey(draft: Draft): Promise<Completed> {
  const { given, lookup, ports } = draft;
  const endpoint = given['endpoint_id'] as string | undefined;
  if (endpoint !== undefined && !ports.isOnline(endpoint) && (await lookup.get(endpoint)) === null)
    throw refusedValue(COMMON.notFound, '/endpoint_id', `The endpoint '${endpoint}' does not exist.`);
  const { body, once } = withToken({ ...draft, body: signed(draft) });
  if (once === undefined) return { body };
  const secret = String(once['token']);
  const name = `${secret.slice(0, SHOWN_CHARACTERS)}…${secret.slice(-SHOWN_CHARACTERS)}`;
  return { body: { ...body, display_name: name }, once };
}

export const aiGatewayApiKeys = resource({
  kind: 'ai_gateway_api_key',
  title: 'AI gateway API key',
  path: '/ai_gateway_api_keys',
  prefix: 'aigk',
  listKey: 'ai_gateway_api_keys',
  fields: {
    ...notes(),
    endpoint_id: {
      ...field(z.string().regex(/^ep_/).describe('The endpoint that the key is for.'), {
        create: 'required',
        codes: { bad: COMMON.wrongPrefix },
      }),
      read: { name: 'endpoint', schema: refSchema, show: (id, { refOf }) => refOf(String(id)) },
    },
    token,
    display_name: derive(z.string().describe('First and last characters of the token.')),
    created_by: person,
    last_updated_by: person,
    updated_at: updatedAt,
    last_used: derive(z.null().describe('Always null.'), () => null),
  },
  complete: completeKey,
});
