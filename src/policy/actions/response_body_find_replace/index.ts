import { RESPONSE_BODY, replacingIn } from '../../replacing.ts';

/** Replaces texts in the body of the response. */
export const responseBodyFindReplace = replacingIn('response-body-find-replace', RESPONSE_BODY);
