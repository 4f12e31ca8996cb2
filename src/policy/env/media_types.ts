import { STRING, fieldsOf, map, stringWithFields } from '../../cel/types.ts';
import { type StringMap, stringMap } from '../../cel/values.ts';

/** A `Content-Type` field (RFC 9110 §8.3.1): its media type in lower case, its parameters, and the whole value. */
export class MediaType {
  readonly raw: string;
  readonly essence: string;
  #parameters: StringMap | undefined;

  constructor(raw: string) {
    this.raw = raw;
    const semicolon = raw.indexOf(';');
    this.essence = (semicolon < 0 ? raw : raw.slice(0, semicolon)).trim().toLowerCase();
  }

  get parameters(): StringMap {
    return (this.#parameters ??= parametersOf(this.raw));
  }

  toJSON(): string {
    return this.essence;
  }
}

/** `; name=value; name="quoted"`: names in lower case; the first of a duplicate name counts. */
function parametersOf(raw: string): StringMap {
  const parameters = stringMap();
  let at = raw.indexOf(';');
  while (at >= 0 && at < raw.length) {
    const end = endOfParameter(raw, at + 1);
    const piece = raw.slice(at + 1, end);
    const equals = piece.indexOf('=');
    const name = piece.slice(0, Math.max(0, equals)).trim().toLowerCase();
    if (name !== '' && parameters[name] === undefined)
      parameters[name] = unquoted(piece.slice(equals + 1).trim());
    at = end;
  }
  return parameters;
}

/** End of the parameter at `from`: a semicolon outside quotes, or the end of the text. */
function endOfParameter(raw: string, from: number): number {
  let isQuoted = false;
  for (let at = from; at < raw.length; at++) {
    const char = raw[at];
    if (char === '"') isQuoted = !isQuoted;
    else if (char === '\\' && isQuoted) at++;
    else if (char === ';' && !isQuoted) return at;
  }
  return raw.length;
}

function unquoted(text: string): string {
  return text.length > 1 && text.startsWith('"') && text.endsWith('"')
    ? text.slice(1, -1).replaceAll(/\\(.)/g, '$1')
    : text;
}

const mediaField = fieldsOf<MediaType>();

export const MEDIA_TYPE = stringWithFields(
  'MediaType',
  {
    parameters: mediaField.present(
      map(STRING, STRING),
      'Parameters such as `charset`, names in lower case.',
      (media) => media.parameters,
    ),
    raw: mediaField.present(STRING, 'The field as received.', (media) => media.raw),
  },
  (media: MediaType) => media.essence,
);
