import type { Linked, Module } from '../../engine/module.ts';
import { type LoginReason, loginReasons } from '../../mechanisms/login/reasons.ts';
import type { LoginLinks } from '../login_gate.ts';
import { compileSaml } from './compile.ts';
import type { SamlConfig } from './schema.ts';

/** Lets in users who log in at a SAML identity provider. */
export const saml: Module<SamlConfig, `saml.${LoginReason}`> = {
  type: 'saml',
  reasons: loginReasons('saml'),
  compile: (config, linked: Linked & LoginLinks) => compileSaml(config, linked),
};
