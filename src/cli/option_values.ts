import { InvalidArgumentError } from 'commander';
import { parseAddress } from '../net/address.ts';

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

/** The name and the value of a header line. */
export function splitHeader(line: string): readonly [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}

export function readIp(text: string): string {
  if (parseAddress(text) === null) throw new InvalidArgumentError('expected an IP address.');
  return text;
}
