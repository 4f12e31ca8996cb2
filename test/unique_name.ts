import { randomBytes } from 'node:crypto';

/**
 * The end of a name that no other run has, for what runs share and leave behind when they are killed: databases of a
 * server. Any other chance of tests is seeded (`random.ts`).
 */
export function uniqueName(): string {
  return randomBytes(6).toString('hex');
}
