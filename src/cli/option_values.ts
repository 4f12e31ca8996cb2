import { InvalidArgumentError } from 'commander';
import { DRAIN_MS } from '../io/listener_limits.ts';
import { parseAddress } from '../net/address.ts';
import type { AgentConfig } from '../simulator/document/schema.ts';
import { isDocumentName } from '../config_file/document.ts';

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 };

/** A duration such as `500ms`, `10s` or `2m`, in ms; 0 for none. */
export function readDuration(text: string): number {
  const parts = /^(\d{1,6}(?:\.\d{1,3})?)(ms|s|m)$/.exec(text);
  if (text === '0') return 0;
  if (parts === null) throw new InvalidArgumentError('write a duration as 500ms, 10s or 2m.');
  return Number(parts[1]) * UNITS[parts[2]!]!;
}

/** How long a stop waits: the option of every verb that serves. */
export const DRAIN_OPTION = [
  '--drain <duration>',
  'how long a stop waits for requests in flight; default: 10s',
  readDuration,
  DRAIN_MS,
] as const;

/** A port given on the command line. */
export function readPort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    const hint = isDocumentName(text) ? '; a policy is named with --policy' : '';
    throw new InvalidArgumentError(`expected a port from 0 to 65535${hint}.`);
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

/** Adds a value to those that were given before. */
export function addText(text: string, before: readonly string[]): readonly string[] {
  return [...before, text];
}

/** A mailbox as certificates have it (RFC 5280 §4.2.1.6): ASCII, here without quotes and comments. */
const LOCAL_PART = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
const DOMAIN = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i;

function isMailbox(text: string): boolean {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, Math.max(0, at));
  const domain = text.slice(at + 1);
  return local.length <= 64 && domain.length <= 253 && LOCAL_PART.test(local) && DOMAIN.test(domain);
}

/** Adds an e-mail address to those that were given before. */
export function addEmail(text: string, before: readonly string[]): readonly string[] {
  if (!isMailbox(text))
    throw new InvalidArgumentError('expected an e-mail address in ASCII, such as ann@app.test.');
  return [...before, text];
}

/** The name and the value of a header line. */
export function splitHeader(line: string): readonly [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}

/** Adds labels of an agent, such as `app=shop,region=eu`, to those that were given before. */
/** An agent: the URL that it binds, or the labels of its tunnel. */
export function addAgent(text: string, before: readonly AgentConfig[]): readonly AgentConfig[] {
  if (text.includes('://')) return [...before, { url: text }];
  const pairs = text.split(',').map((pair) => pair.split('='));
  if (pairs.some((pair) => pair.length !== 2 || pair.includes('')))
    throw new InvalidArgumentError(
      'expected labels such as app=shop,region=eu, or a URL such as https://app.localhost.',
    );
  return [...before, { labels: Object.fromEntries(pairs) as Record<string, string> }];
}

export function readIp(text: string): string {
  if (parseAddress(text) === null) throw new InvalidArgumentError('expected an IP address.');
  return text;
}
