import { spawnSync } from 'node:child_process';
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Floor, quantile } from './measure.ts';

/*
 * What the platform takes for work that nothing can leave out: the floors of rows without a peer that does only that.
 */

const STARTS = 7;

interface EmptyProcess {
  readonly memory: Floor;
  readonly start: Floor;
}

let empty: EmptyProcess | null = null;

/** A process of Node that ends at once. */
export function emptyProcess(): EmptyProcess {
  if (empty !== null) return empty;
  const code = 'process.stdout.write(String(process.resourceUsage().maxRSS))';
  const runs = Array.from({ length: STARTS }, () => {
    const began = performance.now();
    const { stdout } = spawnSync(process.execPath, ['-e', code], { encoding: 'utf8' });
    return { ms: performance.now() - began, mib: Number(stdout) / 1_024 };
  });
  const middle = (of: keyof (typeof runs)[number]): number =>
    quantile(
      runs.map((each) => each[of]),
      0.5,
    );
  return (empty = {
    memory: { name: 'an empty process', value: middle('mib') },
    start: { name: 'an empty process', value: middle('ms') },
  });
}

/** Milliseconds of processor time that JSON.parse takes for a value. */
export function parsedMs(value: unknown): Floor {
  const text = JSON.stringify(value);
  const times = Array.from({ length: STARTS }, () => {
    const started = process.cpuUsage();
    JSON.parse(text);
    const { user, system } = process.cpuUsage(started);
    return (user + system) / 1_000;
  });
  return { name: 'JSON.parse of it', value: quantile(times, 0.5) };
}

const WRITES = 500;
const WRITTEN_BYTES = 4_096;

/** Writes of a page a second, one after the other, each of which waits for the disk. */
export function syncedWrites(): Floor {
  const folder = mkdtempSync(join(tmpdir(), 'edgeproof-bench-'));
  const file = openSync(join(folder, 'written'), 'w');
  try {
    const page = Buffer.alloc(WRITTEN_BYTES, 1);
    const began = performance.now();
    for (let turn = 0; turn < WRITES; turn++) {
      writeSync(file, page);
      fdatasyncSync(file);
    }
    return { name: 'fdatasync of a page', value: (WRITES * 1_000) / (performance.now() - began) };
  } finally {
    closeSync(file);
    rmSync(folder, { recursive: true });
  }
}

/** Seals and opens as many bytes with the cipher alone. */
export function bareCipher(bytes: number): { readonly seal: () => Buffer; readonly open: () => Buffer } {
  const [key, nonce, plain] = [randomBytes(32), randomBytes(12), randomBytes(bytes)];
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
  const tag = cipher.getAuthTag();
  return {
    seal: () => {
      const own = createCipheriv('aes-256-gcm', key, nonce);
      return Buffer.concat([own.update(plain), own.final(), own.getAuthTag()]);
    },
    open: () => {
      const own = createDecipheriv('aes-256-gcm', key, nonce).setAuthTag(tag);
      return Buffer.concat([own.update(sealed), own.final()]);
    },
  };
}
