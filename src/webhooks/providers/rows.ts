import { DEFAULT_WINDOW_SECONDS } from '../provider.ts';
import type { Algorithm, HeaderPlace, Place, Scheme, TimestampRule } from '../provider.ts';

/** A header whose value may have a prefix. */
export function header(name: string, prefix = ''): HeaderPlace {
  return { header: name, lower: name.toLowerCase(), prefix };
}

/** A member of a list in a header: `member('Stripe-Signature', ',', 'v1')` is the value after `v1=`. */
export function member(name: string, list: string, key: string, assign = '='): Place {
  return { header: name, lower: name.toLowerCase(), list, key, assign };
}

/** A member of the JSON body. */
export function json(path: string): Place {
  return { json: path };
}

/** A parameter of a form body. */
export function form(name: string): Place {
  return { form: name };
}

/** A timestamp with the window that the provider recommends, or the default. */
export function timestamp(
  at: Place,
  unit: TimestampRule['unit'] = 's',
  windowSeconds = DEFAULT_WINDOW_SECONDS,
): TimestampRule {
  return { at, unit, windowSeconds };
}

/** An HMAC over the body as received. */
export function overBody(
  signature: Place | readonly Place[],
  encoding: 'hex' | 'base64' = 'hex',
  algorithm: Algorithm = 'hmac_sha256',
): Scheme {
  return { name: 'body', algorithm, encoding, signature: placesOf(signature), signs: '{body}', key: 'text' };
}

/** An HMAC over a text that contains a timestamp. */
export function timed(
  signature: Place | readonly Place[],
  signs: string,
  at: TimestampRule,
  encoding: 'hex' | 'base64' = 'hex',
): Scheme {
  return {
    name: 'timed',
    algorithm: 'hmac_sha256',
    encoding,
    signature: placesOf(signature),
    signs,
    key: 'text',
    timestamp: at,
  };
}

function placesOf(places: Place | readonly Place[]): readonly Place[] {
  return Array.isArray(places) ? (places as readonly Place[]) : [places as Place];
}
