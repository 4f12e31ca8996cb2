import { InvalidArgumentError } from 'commander';

/** A port given on the command line. */
export function readPort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    throw new InvalidArgumentError('expected a port from 0 to 65535.');
  }
  return Number(text);
}

/** An integer of at least 1. */
export function readCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('expected an integer of at least 1.');
  return Number(text);
}

/** Adds a header line to those that were given before. */
export function addHeader(line: string, before: readonly string[]): readonly string[] {
  if (!/^[^\s:]+:/.test(line)) throw new InvalidArgumentError("write a header as 'name: value'.");
  return [...before, line];
}
