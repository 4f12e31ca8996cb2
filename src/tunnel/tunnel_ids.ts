import { equalTexts, hmac, hmacKey } from '../crypto/digest.ts';
import { secretBytes } from '../crypto/random.ts';

const KEY_BYTES = 32;
/** 128 bits, in hex: longer than the ids that are counted, so that the two never meet. */
const NAMED_DIGITS = 32;

/**
 * Ties the ids of tunnels to the token of their first bind, and both to a credential. Agents bring the id of a tunnel
 * along when they bind it again, and go on to use it whatever the response says, so it cannot be refused: an agent that
 * is refused while it reconnects stays away for hours. Without its token, an id is therefore only what the agent itself
 * calls the tunnel. Nothing is remembered: a token is an HMAC of the id and the credential, with a key of this process.
 */
export class TunnelIds {
  readonly #key = hmacKey(secretBytes(KEY_BYTES));

  /** The token that an agent needs to bind the tunnel again under its id. */
  tokenOf(id: string, credential: string | null): string {
    return this.#code('token', id, credential);
  }

  /**
   * The id of the tunnel that an agent calls `name`: the same one with the token of its first bind and the same
   * credential. Otherwise, also for tokens from before the edge has started again, an id that no other credential can
   * ask for: the same one each time, so that reconnects do not change it.
   */
  idOf(name: string, token: string, credential: string | null): string {
    if (equalTexts(this.tokenOf(name, credential), token)) return name;
    return `tn_${this.#code('name', name, credential).slice(0, NAMED_DIGITS)}`;
  }

  #code(use: 'token' | 'name', id: string, credential: string | null): string {
    return hmac('sha256', this.#key, [JSON.stringify([use, id, credential])], 'hex');
  }
}
