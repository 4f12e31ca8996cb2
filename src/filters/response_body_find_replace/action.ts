import { RESPONSE_BODY, replacingIn } from '../replacing.ts';

/** Replaces text in the response body. */
export const responseBodyFindReplace = replacingIn('response-body-find-replace', RESPONSE_BODY);
