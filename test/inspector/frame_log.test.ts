import { constants, deflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { FrameLog, InflateBudget } from '../../src/inspector/server/frame_log.ts';

const MIB = 2 ** 20;

/** One compressed message from an upstream, alone in its frame (RFC 7692, section 7.2.1). */
function compressed(clear: Buffer): Buffer {
  const payload = deflateRawSync(clear, { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, -4);
  const head = Buffer.alloc(10);
  head[0] = 0xc1;
  head[1] = 127;
  head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, payload]);
}

function typesOf(log: FrameLog): string[] {
  return log.frames().list.map(({ type }) => type);
}

test('a message that would become too long is not inflated, and neither are those after it', () => {
  const log = new FrameLog(MIB, 0, new InflateBudget(() => 0));
  log.observe('toClient', compressed(Buffer.alloc(8 * MIB)));
  log.observe('toClient', compressed(Buffer.from('short')));
  log.observe('toUpstream', compressed(Buffer.from('short')));
  expect(typesOf(log)).toEqual(['text, compressed', 'text, compressed', 'text']);
});

test('small messages that become long are inflated up to a number of bytes per second, of all tunnels together', () => {
  let nowMs = 0;
  const budget = new InflateBudget(() => nowMs);
  const bomb = compressed(Buffer.alloc(MIB - 1));
  expect(bomb.length).toBeLessThan(1_100);

  const one = new FrameLog(MIB, 0, budget);
  for (let count = 0; count < 40; count++) one.observe('toClient', bomb);
  expect(typesOf(one).filter((type) => type === 'text')).toHaveLength(16);
  const other = new FrameLog(MIB, 0, budget);
  other.observe('toClient', compressed(Buffer.from('not now')));
  expect(typesOf(other)).toEqual(['text, compressed']);

  nowMs = 1_000;
  const later = new FrameLog(MIB, 0, budget);
  later.observe('toClient', compressed(Buffer.from('now')));
  expect(later.frames().list).toMatchObject([{ type: 'text', text: 'now' }]);
});
