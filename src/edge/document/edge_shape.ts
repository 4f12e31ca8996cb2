import type { Shape } from '../../config_file/shape.ts';
import type { Sound } from '../../diagnostics/report.ts';
import type { EdgeConfig } from './schema.ts';
import generated from './edge_file.schema.json' with { type: 'json' };

/** The shape of an edge file, generated from `schema.ts`. */
export const EDGE_SHAPE = generated as unknown as Shape;

/** A configuration with only its valid parts. */
export type SoundConfig = Sound<EdgeConfig>;
