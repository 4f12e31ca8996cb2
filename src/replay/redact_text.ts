import { type Mark, REDACTED, urlWithoutSecrets } from '../http/secrets.ts';
import { formDecode } from '../policy/env/percent.ts';
import { type Redaction, type Rules, rulesOf } from './redaction.ts';

/** The places where something was redacted. */
export type Places = Set<string>;
/** Where places are only noted. */
type Noting = Pick<Places, 'add'>;

const NOT_NOTED: Noting = { add: () => new Set() };

const PARAMETER = /([?&;#]|^)([\w.%[\]-]+)=([^&#\s;]*)/g;
const USER_INFO = /(\bhttps?:\/\/)([^/?#@\s]+)@/gi;

/** Redacts query parameters with a secret name, and the userinfo of a URL. */
export function redactUrl(text: string, rules: Rules, at: string, places: Noting): string {
  let out = text;
  if (out.includes('@')) {
    out = out.replaceAll(USER_INFO, (_, scheme: string, own: string) => {
      places.add(at);
      return `${scheme}${rules.mark(own)}@`;
    });
  }
  const plain = urlWithoutSecrets(out, rules.markParameter);
  if (plain !== out) places.add(at);
  out = plain;
  const mark = out.indexOf('?');
  if (mark < 0) return out;
  const query = redactParameters(out.slice(mark), rules, at, places);
  return out.slice(0, mark) + query;
}

/** Whether a name, or the last part of one such as `user[password]`, is that of a secret. */
export function isSecretName(given: string, names: ReadonlySet<string>): boolean {
  const name = (given.includes('%') ? formDecode(given) : given).toLowerCase();
  return names.has(name) || (name.endsWith(']') && names.has(name.slice(name.lastIndexOf('[') + 1, -1)));
}

export function redactParameters(text: string, rules: Rules, at: string, places: Noting): string {
  return text.replaceAll(PARAMETER, (whole: string, before: string, name: string, value: string) => {
    if (!isSecretName(name, rules.names)) return whole;
    places.add(`${at}?${name}`);
    return `${before}${name}=${rules.markParameter(value)}`;
  });
}

/** A JSON text without secrets of the configuration in its strings. */
export function jsonWithoutSecrets(json: string, secrets: readonly string[], mark?: Mark): string {
  const inside = secrets.map((secret) => [secret, JSON.stringify(secret).slice(1, -1)] as const);
  return without(json, inside, mark);
}

/** Any text without secrets of the configuration. */
export function textWithoutSecrets(text: string, secrets: readonly string[], mark?: Mark): string {
  return without(
    text,
    secrets.map((secret) => [secret, secret] as const),
    mark,
  );
}

function without(
  text: string,
  secrets: readonly (readonly [secret: string, written: string])[],
  mark: Mark = () => REDACTED,
): string {
  let out = text;
  for (const [secret, written] of secrets)
    if (out.includes(written)) out = out.replaceAll(written, () => mark(secret));
  return out;
}

/** Any value with the URLs in its strings redacted. Names of members mean nothing. */
export function redactTexts<V>(value: V, given: Redaction): V {
  const rules = rulesOf(given);
  const inside = (each: unknown): unknown => {
    if (typeof each === 'string') return redactUrl(each, rules, '', NOT_NOTED);
    if (Array.isArray(each)) return each.map(inside);
    if (typeof each !== 'object' || each === null) return each;
    return Object.fromEntries(
      Object.entries(each).map(([name, own]: [string, unknown]) => [name, inside(own)]),
    );
  };
  return inside(value) as V;
}

/** A request target without secret parameters. */
export function redactTarget(target: string, given: Redaction): string {
  return target.includes('?') ? redactUrl(target, rulesOf(given), '', NOT_NOTED) : target;
}
