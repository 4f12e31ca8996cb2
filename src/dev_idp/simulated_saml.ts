import type { Answers, SignatureRequest } from '../engine/contract.ts';
import { type Signer, keyInfo } from '../auth/saml/canonical.ts';
import { type Identity, returnedState } from './identities.ts';
import { readLoginRequest } from './saml_request.ts';
import { samlResponse } from './saml_response.ts';

/** The SAML provider of a simulation: it replaces any real one, with signatures that only it can verify. */
export interface SimulatedSaml {
  /** `provider` is the entity id of the replaced provider. */
  readonly approve: (location: string, identity: string, provider: string) => SimulatedForm | null;
  readonly verify: (request: SignatureRequest) => Answers['signature'];
}

interface SimulatedForm {
  readonly url: string;
  readonly body: string;
}

const KEPT = 1_000;

/** Replaces a signature, because a real one would need the private key of the real provider. */
const NO_SIGNATURE: Signer = {
  sign: () => Buffer.from('simulated').toString('base64'),
  certificate: keyInfo({ privateKeyPem: '', certificatePem: '' }),
};

/** Creates the provider; it remembers its responses, so that only those verify. */
export function simulatedSaml(
  identities: () => ReadonlyMap<string, Identity>,
  nowMs: () => number,
  newSecret: () => string,
): SimulatedSaml {
  const said = new Map<string, string>();
  return {
    approve: (location, key, provider) => {
      const query = URL.parse(location)?.searchParams;
      const encoded = query?.get('SAMLRequest') ?? null;
      const identity = identities().get(key);
      if (query === undefined || encoded === null || identity === undefined) return null;
      const asked = readLoginRequest(encoded, query.get('RelayState'));
      if (typeof asked === 'string') return null;
      const signers = { right: NO_SIGNATURE, wrong: NO_SIGNATURE };
      const answer = samlResponse(identity, asked, provider, nowMs(), () => `_${newSecret()}`, signers);
      if (answer === null) return null;
      if (identity.misbehave !== 'bad_signature') said.set(answer.xml, answer.assertion);
      for (const oldest of said.keys()) {
        if (said.size <= KEPT) break;
        said.delete(oldest);
      }
      const body = new URLSearchParams({ SAMLResponse: Buffer.from(answer.xml, 'utf8').toString('base64') });
      const relay = asked.relayState;
      if (relay !== null) body.set('RelayState', returnedState(identity, relay));
      return { url: asked.acsUrl, body: body.toString() };
    },
    verify: ({ xml, ids }) => {
      const assertion = said.get(xml);
      return assertion === undefined || ids.length !== 1
        ? { failure: 'invalid', detail: 'the simulated provider did not sign this' }
        : { signed: [assertion] };
    },
  };
}
