import type { Timing } from '../wire_detail.ts';

interface ForwardInstants {
  readonly at: number;
  took: number | null;
}

const NO_FORWARDS: readonly ForwardInstants[] = [];

const ms = (micros: number | null | undefined): number | null =>
  micros === null || micros === undefined ? null : micros / 1_000;

/** Instants of an exchange, in µs after its beginning: small integers need no object of their own. */
export class Instants {
  /** On the clock of `performance.now`, ms. */
  readonly began = performance.now();
  forwards = NO_FORWARDS;
  answered: number | null = null;
  replied: number | null = null;
  ended: number | null = null;

  now(): number {
    return Math.round((performance.now() - this.began) * 1_000);
  }

  forwarded(): void {
    this.forwards = [...this.forwards, { at: this.now(), took: null }];
  }

  gotAnswer(): void {
    const forward = this.forwards.at(-1);
    if (forward?.took !== null) return;
    this.answered = this.now();
    forward.took = this.answered - forward.at;
  }

  /** Until now, if it has not ended. */
  tookMs(): number {
    return (this.ended ?? this.now()) / 1_000;
  }

  timing(startMs: number, connectedMs: number): Timing {
    return {
      startMs,
      connectedMs,
      forwardedAfter: ms(this.forwards[0]?.at),
      answeredAfter: ms(this.answered),
      repliedAfter: ms(this.replied),
      endedAfter: ms(this.ended),
      forwards: this.forwards.map(({ at, took }) => ({ after: at / 1_000, tookMs: ms(took) })),
    };
  }
}
