/** A certificate that is good from 2025 to 2034; its key is forgotten. */
const CERTIFICATE =
  'MIIC4DCCAcigAwIBAgIQScXqDPv9iFDzGcMzg2d+ITANBgkqhkiG9w0BAQsFADAbMRkwFwYDVQQDDBBpZHAuZXhhbXBsZS50ZXN0MB4XDTI1MDEwMTAwMDAwMFoXDTM0MTIzMDAwMDAwMFowGzEZMBcGA1UEAwwQaWRwLmV4YW1wbGUudGVzdDCCASIwDQYJKoZIhvcNAQEBBQADggEPADCCAQoCggEBALG8jdFtnz91wMhqXix47JSGCu/9qQEMZqJUsGPob5JyM8xhYQr1semP++s2zokTimIep6EQDVkFg0gK1hZ4z/SHEsm2LF+Ln1b9ZFvsyugxMppxPcCzgKkm2mTl/TbRvLv8ux6h1g1Hs7M7l7D2cRKdfMCKY+L5CtcwMn3db/Oh9bBmZmaDRsIijzOcOghsN4hyWHQ8Q/mq/jIWSe8onhmYd65Pb+yI4bR1EfSFoUry9c66rTadMBeouRd0YZXAgdPnbAJ5F8COovv5WIkvslX1KQgwjv7A/DPpOFO8PnqWWdQP90Y6G0dJ4QNUQCH9KiImd95Nqfs6GTO4CM0j00ECAwEAAaMgMB4wDAYDVR0TAQH/BAIwADAOBgNVHQ8BAf8EBAMCB4AwDQYJKoZIhvcNAQELBQADggEBAHlWWjrPbC90IAUf9EU7IofLBA+VvkB2dBHnyuTvdtFAkYDVZ3CCo9dQKl9VxNa4N4fg/CBrjTuJYuQ3pGsGLu+jQIyGWI6wNcs4Qs+RaN9+63DFWbH+pamQmCBf3qROKK/rfOmNexX5tAYwzHHdYjya7fMYRBj+iSkyHV9ktTfgPc+YLsa/rESdz5vtsMY0G2M4T6lw64IA3NEASTx8FQW12ogEVV2+6PdIN3aPaRf/muVa7hByA3cAVwmwFu70e7XAF52DEjB9UBuGLc4RdVahOkawyLwezC96TINPeYvvoxqqeP7v7S7ZIP6OnMAu+Vf8eM+DKQgBKxwsSgtDqdg=';

/** Metadata of an identity provider, in one line, so that it fits into any document. */
export const IDP_METADATA =
  '<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://idp.example.test/metadata">' +
  '<IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">' +
  '<KeyDescriptor use="signing"><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>' +
  CERTIFICATE +
  '</X509Certificate></X509Data></KeyInfo></KeyDescriptor>' +
  '<SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://idp.example.test/slo"/>' +
  '<SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://idp.example.test/sso"/>' +
  '</IDPSSODescriptor></EntityDescriptor>';
