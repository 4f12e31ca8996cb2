import { type Piece, digest, equalTexts } from '../crypto/digest.ts';
import type { MessageProblem } from './canonical.ts';
import { bodyAsJsonString, contentfulRequest, notificationText, plivoTarget } from './canonical.ts';
import { runTogether } from './form.ts';
import type { UrlSpelling } from './provider.ts';
import type { Reading } from './reading.ts';

/** A parsed template of `Scheme.signs`: texts and names. */
export type Template = readonly ({ readonly text: string } | { readonly name: string })[];

/**
 * Candidates for the signed message, as pieces to concatenate; several only for different spellings of the
 * URL.
 */
export type Messages =
  | { readonly messages: readonly (readonly Piece[])[] }
  | { readonly problem: MessageProblem };

/** Values that a scheme found in the request, and the secret if it is part of the message. */
export type Values = Readonly<Record<string, string>>;

/** Parses a template, once per configured secret. */
export function parseTemplate(signs: string): Template {
  return signs
    .split(/(\{[a-z_]+\})/)
    .filter((piece) => piece !== '')
    .map((piece) => (/^\{[a-z_]+\}$/.test(piece) ? { name: piece.slice(1, -1) } : { text: piece }));
}

/** Builds the message for every spelling of the URL that the scheme allows. */
export function messagesOf(
  template: Template,
  reading: Reading,
  values: Values,
  spellings: readonly UrlSpelling[] | undefined,
): Messages {
  if (spellings === undefined) {
    const message = messageOf(template, reading, values, reading.request.url);
    return 'problem' in message ? message : { messages: [message.pieces] };
  }
  const urls = new Set(spellings.map((spelling) => spelledAs(reading.request.url, spelling)));
  const messages: (readonly Piece[])[] = [];
  for (const url of urls) {
    const message = messageOf(template, reading, values, url);
    if ('problem' in message) return message;
    messages.push(message.pieces);
  }
  return { messages };
}

type Message = { readonly pieces: readonly Piece[] } | { readonly problem: MessageProblem };

// Adjacent texts are joined, because each piece costs a call of the hash.
function messageOf(template: Template, reading: Reading, values: Values, url: string): Message {
  const pieces: Piece[] = [];
  let text = '';
  for (const part of template) {
    const piece = 'text' in part ? part.text : pieceOf(part.name, reading, values, url);
    if (typeof piece === 'string') text += piece;
    else if ('problem' in piece) return piece;
    else {
      if (text !== '') pieces.push(text);
      text = '';
      pieces.push(piece);
    }
  }
  if (text !== '') pieces.push(text);
  return { pieces };
}

function pieceOf(
  name: string,
  reading: Reading,
  values: Values,
  url: string,
): Piece | { problem: MessageProblem } {
  switch (name) {
    case 'body':
      return reading.request.body;
    case 'method':
      return reading.request.method;
    case 'url':
      return url;
    case 'form':
      return formText(reading);
    case 'form_or_body_hash':
      return formOrBodyHash(reading, url);
    case 'body_json':
      return bodyAsJsonString(reading.request.body) ?? { problem: 'body_malformed' };
    case 'plivo_target':
      return plivoTarget(reading, url);
    case 'contentful_request':
      return contentfulRequest(reading, url, values['timestamp'] ?? '');
    case 'notification':
      return notificationText(reading) ?? { problem: 'field_missing' };
    default:
      return values[name] ?? { problem: 'field_missing' };
  }
}

/** A signature over form parameters does not cover other bodies, so these must be empty. */
function formText(reading: Reading): string | { problem: MessageProblem } {
  const pairs = reading.form();
  if (pairs === null) return { problem: 'body_malformed' };
  if (pairs !== undefined) return runTogether(pairs);
  return reading.request.body.length === 0 ? '' : { problem: 'body_not_signed' };
}

/** Other bodies are covered if the signed URL contains their hash in the parameter `bodySHA256`. */
function formOrBodyHash(reading: Reading, url: string): string | { problem: MessageProblem } {
  const hash = /[?&]bodySHA256=([0-9a-f]{64})(?:&|$)/i.exec(url)?.[1];
  if (hash === undefined) return formText(reading);
  const matches = equalTexts(hash.toLowerCase(), digest('sha256', [reading.request.body], 'hex'));
  return matches ? '' : { problem: 'body_not_signed' };
}

const ORIGIN = /^(https?):\/\/([^/?#]*)(.*)$/is;

/** The URL in one of the spellings that providers sign. */
export function spelledAs(url: string, spelling: UrlSpelling): string {
  if (spelling === 'as_seen') return url;
  if (spelling === 'reserved_decoded')
    return url.replaceAll(/%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi, decodeURIComponent);
  const match = ORIGIN.exec(url);
  if (match === null) return url;
  const [, scheme, authority, rest] = match as unknown as [string, string, string, string];
  const host = authority.replace(/:\d*$/, '');
  if (spelling === 'without_port') return `${scheme}://${host}${rest}`;
  return host === authority
    ? `${scheme}://${host}:${scheme.toLowerCase() === 'https' ? 443 : 80}${rest}`
    : url;
}
