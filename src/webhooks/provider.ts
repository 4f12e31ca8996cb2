/** How certain it is that a row matches the provider's current behaviour. */
type Certainty = 'high' | 'medium';

export type Algorithm =
  | 'hmac_sha1'
  | 'hmac_sha256'
  | 'hmac_sha512'
  /** An unkeyed hash of a message that contains the secret. */
  | 'sha256'
  /** The secret itself is sent. */
  | 'token'
  | 'ecdsa_p256_sha256'
  | 'ed25519'
  /**
   * RSA with the key of a certificate that the message refers to; its signature version determines the hash.
   */
  | 'rsa_certificate';

/** Form of the configured secret: text, text after the scheme's prefix, encoded bytes, or a public key. */
type KeyForm = 'text' | 'after_prefix' | 'base64' | 'whsec' | 'user_and_password' | 'public_key' | 'none';

/**
 * A header whose value may have a prefix. `header` is the provider's spelling; `lower` is used for look-ups.
 */
export interface HeaderPlace {
  readonly header: string;
  readonly lower: string;
  readonly prefix: string;
}

/** Where a value is in a request. */
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
  /** A member of the JSON body, as a dotted path. */
  | { readonly json: string }
  /** A parameter of a form body. */
  | { readonly form: string };

/** Spellings of the request URL that may have been signed, tried in this order. */
export type UrlSpelling = 'as_seen' | 'without_port' | 'with_port' | 'reserved_decoded';

export interface TimestampRule {
  readonly at: Place;
  readonly unit: 's' | 'ms' | 'iso';
  /** Maximum difference from now, in either direction. */
  readonly windowSeconds: number;
}

/** A signature scheme of a provider. */
export interface Scheme {
  /** Distinguishes the schemes of a provider, such as `v3`. */
  readonly name: string;
  readonly algorithm: Algorithm;
  readonly encoding: 'hex' | 'base64' | 'text';
  /** One valid signature is enough, because keys are rotated. */
  readonly signature: readonly Place[];
  /**
   * The signed bytes. `{body}` is the body as received; `{url}`, `{method}`, `{secret}` and `{timestamp}` are
   * what they say; `{form}` are the form parameters sorted by name and concatenated; other names refer to
   * `fields` or to the canonical forms of `message.ts`.
   */
  readonly signs: string;
  readonly key: KeyForm;
  readonly timestamp?: TimestampRule;
  readonly fields?: Readonly<Record<string, Place>>;
  readonly url?: readonly UrlSpelling[];
  /** The scheme applies only if this header has this value. */
  readonly when?: { readonly at: HeaderPlace; readonly is: string };
  /** Order of the members of a list header, if readers depend on it. */
  readonly memberOrder?: readonly string[];
  /** The scheme applies only to secrets with this prefix. */
  readonly secretPrefix?: string;
}

/** Endpoint validation requests that the edge answers itself. */
export type Challenge = 'twitter_crc' | 'worldline_echo' | 'dropbox_echo' | 'xero_intent' | 'zoom_validation';

/** A provider of webhooks, as data. */
export interface Provider {
  /** Lower case; compared case-insensitively. */
  readonly id: string;
  readonly title: string;
  readonly certainty: Certainty;
  /** Source of the row: public documentation, libraries and integrations. */
  readonly source: string;
  /** No public description of the signatures was found; `source` says what the row is based on. */
  readonly unverified?: true;
  /** Tried in this order: the first one whose signature is present decides, with those at the same place. */
  readonly schemes: readonly [Scheme, ...Scheme[]];
  readonly challenge?: Challenge;
  /** Exact length of the secret, if fixed. */
  readonly secretLength?: number;
  readonly note?: string;
  /** Not an id of the service; an addition of this project. */
  readonly addition?: true;
}

/** Window of timestamps for which the provider recommends none. */
export const DEFAULT_WINDOW_SECONDS = 180;
