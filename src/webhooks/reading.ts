import type { FieldList } from '../http/fields.ts';
import { firstValue } from '../http/fields.ts';
import { parseForm } from './form.ts';
import type { FormPair } from './form.ts';
import { parseJsonObject } from './json_object.ts';
import type { JsonObject } from './json_object.ts';

/** A webhook as it arrived. `url` is absolute and spelt as the client sees it; `body` is the bytes received. */
export interface WebhookRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: FieldList;
  readonly body: Uint8Array;
}

/** A request whose body is parsed at most once, and only for those who ask. */
export interface Reading {
  readonly request: WebhookRequest;
  /** The body as a JSON object, or null when it is none, or is ambiguous. */
  readonly json: () => JsonObject | null;
  /** The parameters of a form body, null for a malformed one; undefined when the body is not a form. */
  readonly form: () => readonly FormPair[] | null | undefined;
}

/** Makes a request readable. */
export function readingOf(request: WebhookRequest): Reading {
  let json: JsonObject | null | undefined;
  let form: { readonly pairs: readonly FormPair[] | null | undefined } | undefined;
  return {
    request,
    json: () => (json === undefined ? (json = parseJsonObject(request.body)) : json),
    form: () => {
      form ??= { pairs: isForm(request.headers) ? parseForm(request.body) : undefined };
      return form.pairs;
    },
  };
}

function isForm(headers: FieldList): boolean {
  const type = firstValue(headers, 'content-type');
  return type !== undefined && /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type);
}
