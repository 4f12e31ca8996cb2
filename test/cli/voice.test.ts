import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { voiceTo } from '../../src/cli/voice.ts';

const LINE = 'x'.repeat(99);

it('lines for a reader that does not read are limited, and it is shown how many were lost', async () => {
  const printed: string[] = [];
  let read: (() => void) | null = null;
  const out = new Writable({
    write(bytes: Buffer, _encoding, done) {
      printed.push(bytes.toString());
      if (isReading) done();
      else read = done;
    },
  });
  let isReading = false;
  const voice = voiceTo(out as unknown as NodeJS.WriteStream);
  for (let count = 0; count < 50_000; count++) voice.say(LINE);
  expect(out.writableLength).toBeLessThan(1_100_000);
  isReading = true;
  read!();
  await expect.poll(() => printed.at(-1)).toMatch(/lines were lost/);
  const missed = Number(printed.at(-1)!.replaceAll(/\D/g, ''));
  expect(printed.length - 1 + missed).toBe(50_000);
  voice.say('again');
  await expect.poll(() => printed.at(-1)).toBe('again\n');
});
