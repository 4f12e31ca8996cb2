declare module 'x-hub-signature' {
  export default class XHubSignature {
    constructor(algorithm: string, secret: string);
    sign(body: Uint8Array): string;
    verify(signature: string, body: Uint8Array): boolean;
  }
}
