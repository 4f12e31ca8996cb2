import * as z from 'zod';

export const closeConnection = z.strictObject({}).describe('Closes the connection without a response.');

export type CloseConnectionConfig = z.output<typeof closeConnection>;
