import { type FieldList, firstValue } from '../http/fields.ts';
import { type FormPair, parseForm } from './form.ts';
import { type JsonObject, parseJsonObject } from '../http/json_object.ts';

/**
 * A received webhook. `url` is absolute and spelt as the client sees it; `body` contains the received bytes.
 */
export interface WebhookRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: FieldList;
  readonly body: Uint8Array;
}

/** A request whose body is parsed lazily and at most once. */
export interface Reading {
  readonly request: WebhookRequest;
  /** The body as a JSON object; null if it is not one or ambiguous. */
  readonly json: () => JsonObject | null;
  /** The parameters of a form body; null if it is malformed, undefined if the body is not a form. */
  readonly form: () => readonly FormPair[] | null | undefined;
}

/** Wraps a request. */
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
