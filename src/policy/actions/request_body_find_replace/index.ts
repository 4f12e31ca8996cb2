import { REQUEST_BODY, replacingIn } from '../../replacing.ts';

/** Replaces texts in the body of the request. */
export const requestBodyFindReplace = replacingIn('request-body-find-replace', REQUEST_BODY);
