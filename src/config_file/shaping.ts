import { pointerTo } from '../diagnostics/diagnostic.ts';
import type { Depart, Extension, Shape, ShapeCache } from './shape.ts';

/** The state of one validation. */
export interface Shaping {
  readonly depart: Depart;
  /** Whether departures are reported with their pointers, or only counted. */
  readonly reports: boolean;
  readonly known: ShapeCache | undefined;
  readonly extension: Extension<Shape> | undefined;
  /** Number of departures so far. */
  departures: number;
}

/** An invalid part, left out of the result. */
export type Left = undefined;

/** Only counts departures. */
export function counting(known: ShapeCache | undefined): Shaping {
  const shaping: Shaping = {
    depart: () => shaping.departures++,
    reports: false,
    known,
    extension: undefined,
    departures: 0,
  };
  return shaping;
}

/** Reports each departure. */
export function reporting(
  depart: Depart,
  known: ShapeCache | undefined,
  extension: Extension<Shape> | undefined,
): Shaping {
  const shaping: Shaping = {
    depart: (at, departure) => {
      shaping.departures++;
      depart(at, departure);
    },
    reports: true,
    known,
    extension,
    departures: 0,
  };
  return shaping;
}

/** The pointer of a part, which only a validation that reports needs. */
export function pointerWithin(pointer: string, key: string | number, { reports }: Shaping): string {
  return reports ? pointerTo(pointer, key) : pointer;
}

/** The value has another type than the shape; `meantFor` is what it may belong to instead. */
export function wrongType(
  shape: Shape,
  received: unknown,
  pointer: string,
  shaping: Shaping,
  meantFor?: { readonly entry: string | null },
): Left {
  shaping.depart(pointer, { kind: 'wrong_type', shape, received, meantFor });
  return undefined;
}
