import { equalTexts } from '../../crypto/digest.ts';
import { TOKEN, USER_KIND, tokenHash } from '../resources/accounts.ts';
import type { Principal, ResourceObject } from '../resources/contract.ts';
import { ApiProblem } from '../resources/problem.ts';
import type { View } from '../store/port.ts';

const BEARER = /^bearer +(\S+) *$/i;
const BASIC = /^basic +([A-Za-z0-9+/=]+) *$/i;

/** The caller of a request, by its Authorization header; throws the documented errors, all with status 403. */
export async function principalOf(authorization: string | undefined, view: View): Promise<Principal> {
  if (authorization === undefined || authorization === '') {
    throw new ApiProblem(
      403,
      200,
      'The request has no Authorization header; send Authorization: Bearer <API key>.',
    );
  }
  const token = tokenIn(authorization);
  if (token === null) throw new ApiProblem(403, 201, 'The Authorization header is malformed.');
  const match = TOKEN.exec(token);
  if (match === null) throw malformed(token);
  const key = await view.get(`ak_${match[1]!}`);
  if (key === null || !equalTexts(String(key.body['token_hash']), tokenHash(token))) {
    const credential = await view.get(`cr_${match[1]!}`);
    if (credential !== null) {
      throw new ApiProblem(403, 206, 'This is the token of a tunnel credential; use an API key.');
    }
    throw new ApiProblem(403, 203, 'The API key does not exist.');
  }
  return ownerOf(key, view);
}

function tokenIn(authorization: string): string | null {
  const bearer = BEARER.exec(authorization);
  if (bearer !== null) return bearer[1]!;
  const basic = BASIC.exec(authorization);
  if (basic === null) return null;
  // The key is the password, or the user name if there is no password.
  const [user = '', password = ''] = Buffer.from(basic[1]!, 'base64').toString('utf8').split(':', 2);
  return password === '' ? user : password;
}

function malformed(token: string): ApiProblem {
  if (token.startsWith('cr_'))
    return new ApiProblem(403, 207, 'This is the id of a credential, not an API key.');
  if (token.startsWith('ak_'))
    return new ApiProblem(403, 208, 'This is the id of an API key, not the key itself.');
  return new ApiProblem(403, 202, 'The API key is malformed.');
}

async function ownerOf(key: ResourceObject, view: View): Promise<Principal> {
  const id = String(key.body['owner_id']);
  const owner = await view.get(id);
  if (owner === null || owner.body['active'] === false) {
    throw new ApiProblem(403, 203, 'The owner of this API key is not active.');
  }
  const isUser = owner.kind === USER_KIND;
  return {
    id,
    subject: String(owner.body[isUser ? 'email' : 'name']),
    isAdmin: isUser && owner.body['is_admin'] === true,
    keyId: key.id,
  };
}
