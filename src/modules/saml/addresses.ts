/** What the management API shows of a module that it only stores. */
export { serviceAddresses } from '../../mechanisms/login/saml/addresses.ts';
