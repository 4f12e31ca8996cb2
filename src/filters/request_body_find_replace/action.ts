import { REQUEST_BODY, replacingIn } from '../replacing.ts';

/** Replaces text in the request body. */
export const requestBodyFindReplace = replacingIn('request-body-find-replace', REQUEST_BODY);
