import { afterEach, expect, it, vi } from 'vitest';
import { FloodGate } from '../../src/http2/flood_gate.ts';
import { CONTROL, RESETS } from '../../src/http2/limits.ts';

afterEach(() => void vi.restoreAllMocks());

it('the window begins with the first count, however old the process is', () => {
  const now = vi.spyOn(performance, 'now');
  for (const beganMs of [0, CONTROL.windowMs - 1, 5 * CONTROL.windowMs - 1]) {
    const gate = new FloodGate({ sentFrames: 0 });
    now.mockReturnValue(beganMs);
    for (let at = 0; at < RESETS; at++) {
      expect(gate.reset()).toBe(false);
      if (at === 0) now.mockReturnValue(beganMs + CONTROL.windowMs - 1);
    }
    expect(gate.reset()).toBe(true);
    now.mockReturnValue(beganMs + CONTROL.windowMs);
    expect(gate.reset()).toBe(false);
  }
});
