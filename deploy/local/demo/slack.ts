/**
 * How much an attempt may download beyond the object: the importer looks at the first bytes before it asks for scratch
 * space and begins again, and what is on its way then has been sent.
 */
export const slackBytesPerAttempt = 512 * 1024;
