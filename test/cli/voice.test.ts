import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { voiceTo } from '../../src/cli/voice.ts';

const LINE = 'x'.repeat(99);

it('lines for a reader that does not read are limited, and it is shown how many were lost', async () => {
  let printed = '';
  let read: (() => void) | null = null;
  const out = new Writable({
    write(bytes: Buffer, _encoding, done) {
      printed += bytes.toString();
      if (isReading) done();
      else read = done;
    },
  });
  let isReading = false;
  const voice = voiceTo(out as unknown as NodeJS.WriteStream);
  for (let count = 0; count < 50_000; count++) voice.say(LINE);
  await expect.poll(() => read).not.toBeNull();
  for (let count = 0; count < 50_000; count++) voice.say(LINE);
  expect(out.writableLength).toBeLessThan(1_100_000);
  isReading = true;
  read!();
  await expect.poll(() => printed).toMatch(/lines were lost/);
  const shown = printed.trimEnd().split('\n');
  const missed = Number(shown.at(-1)!.replaceAll(/\D/g, ''));
  expect(shown.length - 1 + missed).toBe(100_000);
  voice.say('again');
  await expect.poll(() => printed.endsWith('\nagain\n')).toBe(true);
});

it('lines of the log of one turn of the event loop are one write; other lines are written at once', async () => {
  const writes: string[] = [];
  const out = new Writable({
    write(bytes: Buffer, _encoding, done) {
      writes.push(bytes.toString());
      done();
    },
  });
  const voice = voiceTo(out as unknown as NodeJS.WriteStream);
  voice.log('one');
  voice.log('two');
  expect(writes).toEqual([]);
  await expect.poll(() => writes).toEqual(['one\ntwo\n']);
  voice.log('three');
  voice.say('at once');
  expect(writes[1]).toBe('three\nat once\n');
});
