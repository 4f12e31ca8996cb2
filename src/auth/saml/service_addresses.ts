/** What the management API shows of a module that it only stores. */
export { serviceAddresses } from './addresses.ts';
