import type { Linked, Module } from '../../engine/module.ts';
import { type LoginReason, loginReasons } from '../reasons.ts';
import type { LoginLinks } from '../module_gate.ts';
import { compileSaml } from './module_compile.ts';
import type { SamlConfig } from './module_schema.ts';

/** Requires a login at a SAML identity provider. */
export const saml: Module<SamlConfig, `saml.${LoginReason}`> = {
  type: 'saml',
  reasons: loginReasons('saml'),
  compile: (config, linked: Linked & LoginLinks) => compileSaml(config, linked),
};
