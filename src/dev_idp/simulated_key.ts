import type { SigningIdentity } from '../crypto/issue_certificate.ts';

/** Replaces managed OAuth apps in a simulation. */
export const SIMULATED_PROVIDER = 'https://development.invalid';

/**
 * The signing key of simulated login gates. It is public and used in simulations only: a generated key would
 * make the log differ between runs.
 */
// table: a key and its certificate
export const SIMULATED_KEY: SigningIdentity = {
  privateKeyPem:
    '-----BEGIN PRIVATE KEY-----\n' +
    'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC/yxw4/k0Hc30F\n' +
    '2LLCYaiM+lJlFqA8/A204SDs1VU7bsbzI8GlWaiMT31Xz89w7TCcI1FDCf8RNFZx\n' +
    'Gy/+aOkhyqA5cJ+iNs4MdrPxoOgOLm4T1BGMGdv73tfnW/2pa2kGtbS/uk4VqE7z\n' +
    'YVQhvl6tQyB+4tVeHcsWu1+fg8qyUjaXbwIEVRwBQyQcu/K2aO6BSXChzeMMX4fr\n' +
    'BSCjy37sVXRSLEbeygX7+fp1/vCwDBNOLNN8Lkl7/lc8yMr/cRGrXnRVWvicdabb\n' +
    'JQ1FIoG/oFQMn1tnW6f/b6p/aEWAnR7Yoep5BcDCVfTtQeefkGj5oTLgrBdHBvh1\n' +
    'P09e07pjAgMBAAECggEAXQOcftl5swTj27uByjqBe0mFPyhPcvQMk63hAWreyJGL\n' +
    'Y+xx5AaM8us0Dyul347wlbCdHuWQsZ/P0k/MoVXwxmYV+XVwvcNVf37r+uG92O7U\n' +
    'jMI69lauNMMYs0gOR6VjTJFABQHOD7vN+kO4ARtpoB6feln4/4l0bmRV1i8c1Qip\n' +
    '4TUa6YABQGBkTIUs02ROrrQapQb1Bzo/MAva/e9H4PvbpLoOz5uzOucIl66Fjbwt\n' +
    '7rYMdQj1nqp/l8TXT4QA4MVSbLjcFzgVkVOuHMd3OG+4xvllMn4qakoP//PxBHcY\n' +
    'UM9A9Zu0fH7zOc5YEbk0uuJy6sdklq36w+y0JYfMPQKBgQDpXlUpOYKtlar1TFdY\n' +
    'CGyjcFAVD3BANGzgu4+2+F3IN1CVz8SNzHNeSjmXcKKGA5h7NfG/HBIhgLcoBH4a\n' +
    'AXBRqdwxfb2/MU6NLOnDOSE2H5+fDyBBovT87cHIbbu7EqkoC5QpEGHXuyk6bvZy\n' +
    'P3DGP1LsvqDKU7yMLenuDd45vQKBgQDSZJ+ggroVqB1h9O2qLQpBTd4kjfFqXSvG\n' +
    'tlvmXOpKP0fSNaHT52JANJIKkZvka1VGkWUJwklw+nnG09UmyUqy/dzQ8oONVnOG\n' +
    '772m1snUASYCeQ4YP/Q9IS4nEE8pRNaBq1ZJv48b2KLpCL816/B3AuIj07pRV+9i\n' +
    'KsCc8iA2nwKBgHiPbE100YbduEkrXEA1cfJpdmW66RGyQ8FCBHfRDZn+wZnzkSZ0\n' +
    'RfGjROdwn/W968tTTgWd+dvnBDgfQgorThxSNVg4Dou0bFFQr59UZ0zvv2XLya0/\n' +
    'A3ObXK4vynlVpZ/zg2JHfVSW8zCl3JmfHqK8WhnGTYjZA6IjoiOCdJi9AoGBAJCt\n' +
    'p2OOYf6Ag+wXrNOIc3Pi4y7J+UiGV5MnVdz86hQyneX9AZKhm9vBCuh/pu8VrCeB\n' +
    '1jQ2yaAKbnF+vCYW5+pcTlvVWQd5eqpA9G7lZxcFzyiGLF4apI7g4Ub1nSoo70Vu\n' +
    'GEFQnE2u1KBhZnPjEpIUhoPSll5XlQMxmRCUI/jLAoGARNwpDRj2eE8yNv6wyYxj\n' +
    'kRyGPyvRl764fCfgiUbx+80h0MUcs5Hw/FWmldx1aMioaD6uiwFBrsLV5kSpDPj5\n' +
    '3GzDI879gKwFocMgfDU6Xt4WLSwn1oJMd/p15Caero7gy0T0GjqpKS8qewLOmTgb\n' +
    'UWOiBbv2P1xNri1ZbJkpNN0=\n' +
    '-----END PRIVATE KEY-----\n',
  certificatePem:
    '-----BEGIN CERTIFICATE-----\n' +
    'MIIC0jCCAbqgAwIBAgIQS5+6NWr0syZn4IT6meG77TANBgkqhkiG9w0BAQsFADAU\n' +
    'MRIwEAYDVQQDDAlzaW11bGF0ZWQwHhcNMjYwMTAxMDAwMDAwWhcNMzUxMjMwMDAw\n' +
    'MDAwWjAUMRIwEAYDVQQDDAlzaW11bGF0ZWQwggEiMA0GCSqGSIb3DQEBAQUAA4IB\n' +
    'DwAwggEKAoIBAQC/yxw4/k0Hc30F2LLCYaiM+lJlFqA8/A204SDs1VU7bsbzI8Gl\n' +
    'WaiMT31Xz89w7TCcI1FDCf8RNFZxGy/+aOkhyqA5cJ+iNs4MdrPxoOgOLm4T1BGM\n' +
    'Gdv73tfnW/2pa2kGtbS/uk4VqE7zYVQhvl6tQyB+4tVeHcsWu1+fg8qyUjaXbwIE\n' +
    'VRwBQyQcu/K2aO6BSXChzeMMX4frBSCjy37sVXRSLEbeygX7+fp1/vCwDBNOLNN8\n' +
    'Lkl7/lc8yMr/cRGrXnRVWvicdabbJQ1FIoG/oFQMn1tnW6f/b6p/aEWAnR7Yoep5\n' +
    'BcDCVfTtQeefkGj5oTLgrBdHBvh1P09e07pjAgMBAAGjIDAeMAwGA1UdEwEB/wQC\n' +
    'MAAwDgYDVR0PAQH/BAQDAgeAMA0GCSqGSIb3DQEBCwUAA4IBAQCswgVoYoWEToNp\n' +
    'm07vjqPyTL3xpfRngPjbijnE7dBb5zRZS1C8QsIUPzulTCGmt5l8ykAmiPQXS3Ad\n' +
    'OERDGOEvFOpD77MbjvcRyibCjmMVOg9ebOQI6ydR7w+MAdTuNhZKaBe52m6ioc7Y\n' +
    'B/VLyDjMQf1C6MuilToJN9wopOFX5R6XI7VanXHBbA73mMuiTgcR8uqBVwRPAEqK\n' +
    'YOFJMZr5rgfhzggo02GHEbsTSd4m0YfRHTR0ce4L/EA34RAHhNXsE1S2Gb0TOJ2x\n' +
    'opT1L/fTqPrtoV0dLstCGSaSuDe6V/Xc8Y+0yl3M/tDUST12OqnAMhIXdWVSKxBn\n' +
    'Zv7Tmsw1\n' +
    '-----END CERTIFICATE-----\n',
};
