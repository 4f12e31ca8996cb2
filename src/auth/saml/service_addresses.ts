/** For the management API, which shows the addresses of stored modules. */
export { serviceAddresses } from './addresses.ts';
