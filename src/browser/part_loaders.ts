/** The files of a part with what the rest uses of them. */
export type Part = Readonly<Record<string, object>>;

/** Loads the parts that the bundler has taken out of the engine, by name; it writes this list (`rolldown.parts.ts`). */
export const LOADERS: Readonly<Record<string, () => Promise<Part>>> = {};
