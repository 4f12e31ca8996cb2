/** The part of `node:util` that the engine uses. Pages style text by themselves. */
export function styleText(_format: unknown, text: string): string {
  return text;
}
