import { UNSPECIFIED } from './name_id.ts';
import { endpointAddresses } from './addresses.ts';
import { fetchedSamlProvider, isMetadataUrl } from './fetched.ts';
import { samlKeys } from '../keys.ts';
import { isMetadataProblem, readMetadata } from './metadata.ts';
import { samlProvider } from './provider.ts';
import type { ActionKind } from '../../filters/action.ts';
import { type LoginKind, loginAction } from '../action_login.ts';

/** Requires a login at a SAML identity provider. */
export const saml: ActionKind<'saml'> = {
  type: 'saml',
  compile: ({ config }, compiling) => {
    const { idp_metadata: text, idp_metadata_url: url } = config;
    const own = samlKeys();
    const kind: LoginKind = {
      type: 'saml',
      result: 'saml',
      credentials: [],
      provider: (_texts, { edge, samlKeys: keys = own, takesOver = false, developmentSaml = null }) => {
        const settings = {
          forceAuthn: config.force_authn,
          allowIdpInitiated: config.allow_idp_initiated,
          authorizedGroups: config.authorized_groups,
          // The document cannot specify the expected format, so any is accepted.
          nameIdFormat: UNSPECIFIED,
          addresses: endpointAddresses,
          signing: (nowMs: number) => keys(`policy ${edge}`, nowMs),
        };
        const given = takesOver && developmentSaml !== null ? developmentSaml() : text;
        if (given === undefined) {
          if (!isMetadataUrl(url ?? ''))
            return { missing: 'The metadata URL of this login is not an https URL' };
          return { provider: fetchedSamlProvider(url!, settings), givesTokens: false };
        }
        const metadata = readMetadata(given);
        if (isMetadataProblem(metadata)) {
          return { missing: `The metadata of this login ${metadata.problems[0]!.message}` };
        }
        return { provider: samlProvider({ ...settings, metadata }), givesTokens: false };
      },
    };
    return loginAction(kind, { allow_cors_preflight: false }, compiling);
  },
};
