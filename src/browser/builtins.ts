/** The twin of `src/loading/builtins.ts` for pages, which load the parts behind it later. */
import * as crypto from './crypto.ts';
import * as zlib from './zlib.ts';

export const nodeCrypto = (): typeof crypto => crypto;
export const nodeZlib = (): typeof zlib => zlib;
