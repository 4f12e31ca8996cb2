/** Contents of a client certificate (RFC 5280), for the engine, events and expressions. */
export interface ClientCertificateFacts {
  /** Lower-case hexadecimal. */
  readonly serialNumber: string;
  readonly subjectCn: string;
  /** All fields, if they were read. */
  readonly details?: CertificateDetails;
}

export interface CertificateDetails {
  readonly issuer: CertificateName;
  readonly subject: CertificateName;
  readonly san: AlternativeNames;
  readonly extensions: readonly CertificateExtension[];
  /** Such as `SHA256-RSA`. */
  readonly signatureAlgorithm: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly pem: string;
}

/** A distinguished name; `text` is in RFC 4514 format. */
export interface CertificateName {
  readonly text: string;
  readonly commonName: string;
  readonly country: readonly string[];
  readonly locality: readonly string[];
  readonly organization: readonly string[];
  readonly organizationalUnit: readonly string[];
  readonly postalCode: readonly string[];
  readonly province: readonly string[];
  readonly streetAddress: readonly string[];
}

/** `text` lists all names like OpenSSL: `DNS:a.example, IP Address:192.0.2.1`. */
export interface AlternativeNames {
  readonly text: string;
  readonly dnsNames: readonly string[];
  readonly emailAddresses: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly uris: readonly string[];
}

export interface CertificateExtension {
  /** Object identifier in dotted form. */
  readonly id: string;
  readonly critical: boolean;
  readonly value: Uint8Array;
}
