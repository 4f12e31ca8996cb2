/** Paths below the base of a login gate that the gate answers itself; `saml/addresses.ts` has those of SAML. */
export const GATE_PATHS = {
  /** Starts a login of a module. */
  moduleLogin: 'authn',
  /** Starts a login of an action. */
  actionLogin: 'login',
  logout: 'logout',
  signedOut: 'signed_out',
  /** Where providers of OAuth and OpenID Connect send the browser back to. */
  callback: 'callback',
  /** Where OpenID providers end sessions. */
  backchannelLogout: 'backchannel_logout',
} as const;
