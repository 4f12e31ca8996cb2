/** How sure we are that a row says what the provider does today. */
type Certainty = 'high' | 'medium';

export type Algorithm =
  | 'hmac_sha1'
  | 'hmac_sha256'
  | 'hmac_sha512'
  /** A bare hash of a message that contains the secret. */
  | 'sha256'
  /** The secret itself is sent. */
  | 'token'
  | 'ecdsa_p256_sha256'
  | 'ed25519'
  /** RSA by the key of a certificate that the message names; the hash by its signature version. */
  | 'rsa_certificate';

/** What the configured secret is: text used as it is or after the prefix of the scheme, something to decode, or a key to check signatures with. */
type KeyForm = 'text' | 'after_prefix' | 'base64' | 'whsec' | 'user_and_password' | 'public_key' | 'none';

/** A header that holds a value alone or after a prefix. `header` is as the provider writes it, `lower` is looked for. */
export interface HeaderPlace {
  readonly header: string;
  readonly lower: string;
  readonly prefix: string;
}

/** Where in a request a value is found. */
export type Place =
  | HeaderPlace
  /** One or more members of a list in a header: `t=1,v1=ab` has list `,`, assign `=`, and keys `t` and `v1`. */
  | {
      readonly header: string;
      readonly lower: string;
      readonly list: string;
      readonly key: string;
      readonly assign: string;
    }
  /** A member of the JSON body, path by dots. */
  | { readonly json: string }
  /** A parameter of a form body. */
  | { readonly form: string };

/** The spellings of the request URL that a signature may have been made over, tried in this order. */
export type UrlSpelling = 'as_seen' | 'without_port' | 'with_port' | 'reserved_decoded';

export interface TimestampRule {
  readonly at: Place;
  readonly unit: 's' | 'ms' | 'iso';
  /** How far from now it may be, to either side. */
  readonly windowSeconds: number;
}

/** One way in which a provider signs. */
export interface Scheme {
  /** Tells the schemes of one provider apart, such as `v3`. */
  readonly name: string;
  readonly algorithm: Algorithm;
  readonly encoding: 'hex' | 'base64' | 'text';
  /** Any one signature that is right is enough: keys are rotated. */
  readonly signature: readonly Place[];
  /**
   * The bytes that are signed. `{body}` is the body as received; `{url}` `{method}` `{secret}` `{timestamp}`
   * are what they say; `{form}` the form parameters in order of name, run together; other names are those of
   * `fields`, or the canonical forms of `message.ts`.
   */
  readonly signs: string;
  readonly key: KeyForm;
  readonly timestamp?: TimestampRule;
  readonly fields?: Readonly<Record<string, Place>>;
  readonly url?: readonly UrlSpelling[];
  /** The scheme is meant only when this header has this value. */
  readonly when?: { readonly at: HeaderPlace; readonly is: string };
  /** Order in which the members of a list header are written, where readers depend on it. */
  readonly memberOrder?: readonly string[];
  /** The scheme is meant only for secrets that begin so. */
  readonly secretPrefix?: string;
}

/** How a provider asks whether an endpoint is ours, and the edge answers by itself. */
export type Challenge = 'twitter_crc' | 'worldline_echo' | 'dropbox_echo' | 'xero_intent' | 'zoom_validation';

/** A provider of webhooks, as data. */
export interface Provider {
  /** Lower case; compared without regard to case. */
  readonly id: string;
  readonly title: string;
  readonly certainty: Certainty;
  /** Where the knowledge is from: names of documentation, libraries and integrations that anybody can look at. */
  readonly source: string;
  /** Nothing public was found that says how the provider signs; the source says what the row is made of. */
  readonly unverified?: true;
  /** Tried in this order: the first whose signature is present decides, with those that share its place. */
  readonly schemes: readonly [Scheme, ...Scheme[]];
  readonly challenge?: Challenge;
  /** Exact length of the secret, where the provider has one. */
  readonly secretLength?: number;
  readonly note?: string;
  /** Not an id of the service: an addition of this project. */
  readonly addition?: true;
}

/** Window of a timestamp whose provider recommends none. */
export const DEFAULT_WINDOW_SECONDS = 180;
