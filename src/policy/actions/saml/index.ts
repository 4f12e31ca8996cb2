import { UNSPECIFIED } from '../../../mechanisms/login/saml/name_id.ts';
import { endpointAddresses } from '../../../mechanisms/login/saml/addresses.ts';
import { fetchedSamlProvider, isMetadataUrl } from '../../../mechanisms/login/saml/fetched.ts';
import { samlKeys } from '../../../mechanisms/login/saml/keys.ts';
import { isMetadataProblem, readMetadata } from '../../../mechanisms/login/saml/metadata.ts';
import { samlProvider } from '../../../mechanisms/login/saml/provider.ts';
import type { ActionKind } from '../../action.ts';
import { LOGIN_SAYS, type LoginKind, loginAction } from '../../login.ts';

/** Lets in users who log in at a SAML identity provider. */
export const saml: ActionKind<'saml'> = {
  type: 'saml',
  says: LOGIN_SAYS,
  compile: ({ config }, compiling) => {
    const { idp_metadata: text, idp_metadata_url: url } = config;
    const own = samlKeys();
    const kind: LoginKind = {
      type: 'saml',
      result: 'saml',
      credentials: [],
      provider: (_texts, { edge, samlKeys: keys = own }) => {
        const settings = {
          forceAuthn: config.force_authn,
          allowIdpInitiated: config.allow_idp_initiated,
          authorizedGroups: config.authorized_groups,
          // The document cannot say which format it expects, so any will do.
          nameIdFormat: UNSPECIFIED,
          addresses: endpointAddresses,
          signing: (nowMs: number) => keys(`policy ${edge}`, nowMs),
        };
        if (text === undefined) {
          if (!isMetadataUrl(url ?? ''))
            return { missing: 'The metadata of this login is not at an https URL' };
          return { provider: fetchedSamlProvider(url!, settings), givesTokens: false };
        }
        const metadata = readMetadata(text);
        if (isMetadataProblem(metadata)) {
          return { missing: `The metadata of this login ${metadata.problems[0]!.says}` };
        }
        return { provider: samlProvider({ ...settings, metadata }), givesTokens: false };
      },
    };
    return loginAction(kind, { allow_cors_preflight: false }, compiling);
  },
};
