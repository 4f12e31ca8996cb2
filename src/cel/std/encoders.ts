import { type FunctionRow, func, overload } from '../function_table.ts';
import { CHARACTERS_PER_UNIT } from '../limits.ts';
import { BYTES, STRING } from '../types.ts';
import { fail } from '../values.ts';

/** RFC 4648 §4; padding is optional, everything else is strict. */
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

export const ENCODERS: readonly FunctionRow[] = [
  func('base64.encode', 'Base64 encoding of bytes.', "base64.encode(b'hi') == 'aGk='", [
    overload({
      id: 'base64_encode_bytes',
      style: 'global',
      params: [BYTES],
      result: STRING,
      call: (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64'),
      cost: (bytes) => bytes.length / CHARACTERS_PER_UNIT,
    }),
  ]),
  func(
    'base64.decode',
    'Bytes of a base64 string, with or without padding.',
    "base64.decode('aGk=') == b'hi'",
    [
      overload({
        id: 'base64_decode_string',
        style: 'global',
        params: [STRING],
        result: BYTES,
        cost: (text) => text.length / CHARACTERS_PER_UNIT,
        call: (text) => {
          // A single last character has only six bits and cannot be a byte.
          if (!BASE64.test(text) || text.replace(/=+$/, '').length % 4 === 1)
            return fail('expr.invalid_argument', 'the text is not base64');
          return new Uint8Array(Buffer.from(text, 'base64'));
        },
      }),
    ],
  ),
];
