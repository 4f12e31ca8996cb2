import { onTestFinished } from 'vitest';
import { ingress, type Ingress } from './ingress.ts';
import { recorder, type Recorder } from './sockets.ts';

/** Closes something when the test that opened it has finished, the last opened first. */
export function closing<T extends { close(): Promise<unknown> }>(made: T): T {
  onTestFinished(async () => void (await made.close()));
  return made;
}

/** An upstream for one test. */
export async function upstream(...given: Parameters<typeof recorder>): Promise<Recorder> {
  return closing(await recorder(...given));
}

/** An edge for one test. */
export async function edgeFor(...given: Parameters<typeof ingress>): Promise<Ingress> {
  return closing(await ingress(...given));
}
